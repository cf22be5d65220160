import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import type { Registry } from "@prometheus-io/client";
import manifest from "../../package.json" with { type: "json" };
import type { Config } from "../config/config.ts";
import { Health } from "../../gen/grpc/health/v1/health_pb.js";
import { createClientAddress } from "../pipeline/client-address.ts";
import { onBehalfOf } from "../db/connection-shares.ts";
import { databaseRefusal } from "../db/database-error.ts";
import type { MapTiles } from "../domain/map-tiles.ts";
import { createPipeline, type PipelineOptions } from "../pipeline/stages/pipeline.ts";
import { createRpcHandler } from "../transport/connect/connect-handler.ts";
import { addHealth } from "../transport/connect/health.ts";
import { addReflection, REFLECTION_SERVICES } from "../transport/connect/reflection.ts";
import type { TransportServer } from "../transport/connections/transport-server.ts";
import { createGrpcFastPath } from "../transport/grpc/fast-path.ts";
import { createGrpcServer } from "../transport/grpc/grpc-server.ts";
import { createApiDescription, DESCRIPTION_PATH } from "../transport/http/api-description.ts";
import {
  createCourierFiles,
  createDashboardFiles,
  createDocsFiles,
  guidePaths,
} from "../transport/http/static-files.ts";
import { createStartPage } from "../transport/http/browser-page.ts";
import { createHttpServer } from "../transport/http/http-server.ts";
import { createJsonGateway } from "../transport/http/json-gateway.ts";
import { createMapTiles, tilesOrigin } from "../transport/http/map-tiles.ts";
import { createOperationsServer, createProbes } from "../transport/http/probes.ts";
import { createProviderEvents, type ProviderEventOptions } from "../transport/http/provider-events.ts";
import { createCourierSessions, type OpenCourierLink } from "../transport/http/courier-session.ts";
import { createSignInPages, type SignIn } from "../transport/http/sign-in.ts";
import type { HttpHandler } from "../transport/http/responses.ts";
import { createMcpEndpoint } from "../transport/mcp/mcp-endpoint.ts";
import { createTracking, type TrackingPages } from "../transport/http/tracking.ts";
import type { Language } from "../tracking/texts.ts";
import type { Readiness } from "./readiness.ts";
import { ACCOUNT_SERVICES, ADMIN_SERVICES, SERVICES } from "./services.ts";

const DASHBOARD_FOLDER = fileURLToPath(new URL("../dashboard/built", import.meta.url));

const COURIER_FOLDER = fileURLToPath(new URL("../courier/built", import.meta.url));

const DOCS_FOLDER = fileURLToPath(new URL("../docs-pages/built", import.meta.url));

let documents: readonly string[] | undefined;

/** Returns the paths of the public documents. They are read once. */
function documentPaths(): readonly string[] {
  return (documents ??= [DESCRIPTION_PATH, ...guidePaths(DOCS_FOLDER)]);
}

/** OpenAPI document, which `npm run generate` creates. */
const API_DESCRIPTION = fileURLToPath(new URL("../../gen/openapi/openapi.json", import.meta.url));

/** All services that require a credential. */
const SERVED = [...SERVICES, ...ADMIN_SERVICES, ...ACCOUNT_SERVICES];
/** Services that require no credential. */
const WITHOUT_CREDENTIAL = [Health, ...REFLECTION_SERVICES];

export type Servers = ReturnType<typeof createServers>;

/** Options of the servers, without the pipeline options that are created here. */
interface ServersOptions extends Omit<
  PipelineOptions,
  "clientAddress" | "isHttps" | "shutdownSignal" | "endSignal" | "refusalOf" | "onBehalfOf"
> {
  readonly signIn: SignIn & { readonly openCourierLink: OpenCourierLink };
  readonly providerEvents: ProviderEventOptions;
  readonly tracking: TrackingPages<Language>;
  readonly config: Partial<
    Pick<
      Config,
      "publicUrl" | "publicGrpcUrl" | "trustedProxies" | "dashboard" | "geocoder" | "mapTiles" | "operationsPort"
    >
  >;
  readonly readiness: Readiness;
}

/**
 * Creates the servers without listening. Both public servers share one pipeline. If there is a server
 * for operators, the public servers expose neither metrics nor the operator and account services.
 */
export function createServers(options: ServersOptions) {
  const { rpcs, streams, registry, config } = options;
  const { unreadyReason, shutdownSignal, endSignal } = options.readiness;
  const clientAddress = createClientAddress(config.trustedProxies ?? []);
  const isHttps = config.publicUrl?.startsWith("https:") ?? false;
  const pipeline = createPipeline({
    ...options,
    clientAddress,
    isHttps,
    shutdownSignal,
    endSignal,
    refusalOf: databaseRefusal,
    onBehalfOf,
  });
  const isOpen = config.operationsPort === undefined;
  const { toRefusal } = pipeline;
  const callers = { clientAddress, toRefusal };
  const probes = (shown: Registry | undefined) => createProbes({ unreadyReason, registry: shown, toRefusal });
  const rpcHandler = (grpc: boolean) =>
    createRpcHandler({
      rpcs,
      streams,
      pipeline,
      grpc,
      addServices: withoutCredential(options.readiness, isOpen ? SERVED : SERVICES),
    });
  const grpc = withPort(createGrpcServer(rpcHandler(true), createGrpcFastPath(rpcs, pipeline)));
  return {
    http: createHttpServer({
      isHttps,
      serviceNames: [...SERVED, ...WITHOUT_CREDENTIAL].map(nameOf),
      handleRpc: rpcHandler(false),
      gateway: createJsonGateway([...rpcs, ...streams], pipeline, documentPaths),
      handlers: [
        createSignInPages({
          signIn: options.signIn,
          isHttps,
          grpcAddress: () => ({ url: config.publicGrpcUrl ?? null, port: grpc.port() }),
          lookups: pipeline.lookups,
          ...callers,
        }),
        createCourierSessions({ open: options.signIn.openCourierLink, isHttps, lookups: pipeline.lookups, ...callers }),
        createProviderEvents({ ...options.providerEvents, ...callers }),
        createTracking(options.tracking, { ...callers, shutdownSignal }),
        probes(isOpen ? registry : undefined),
        createApiDescription(API_DESCRIPTION, config.publicUrl),
        createDocsFiles(DOCS_FOLDER, config),
        createCourierFiles(COURIER_FOLDER),
        createMcpEndpoint({ ...agents(config), ...options, pipeline, clientAddress, isHttps }),
        ...(config.dashboard ? dashboardHandlers(config.mapTiles, { toRefusal, endSignal }) : []),
        createStartPage({ isUnbuilt: config.dashboard === true, publicUrl: config.publicUrl }),
      ],
    }),
    grpc,
    /** Server for operators. It is opened only if its port is configured. */
    operations: createOperationsServer(probes(registry)),
    reservedBytes: pipeline.reservedBytes,
  };
}

/** Returns the options of the Model Context Protocol server. */
const agents = ({ geocoder }: ServersOptions["config"]) => ({
  product: { name: manifest.name, version: manifest.version },
  apiDescription: API_DESCRIPTION,
  docsFolder: DOCS_FOLDER,
  hasGeocoder: geocoder !== undefined,
});

function dashboardHandlers(
  tiles: MapTiles | undefined,
  options: Parameters<typeof createMapTiles>[1],
): readonly HttpHandler[] {
  return [createMapTiles(tiles, options), createDashboardFiles(DASHBOARD_FOLDER, tilesOrigin(tiles))];
}

/** Adds the port to a server. The port is null until the server listens. */
function withPort(server: TransportServer): TransportServer & { port(): number | null } {
  let address: AddressInfo | undefined;
  return {
    ...server,
    listen: async (at) => (address = await server.listen(at)),
    port: () => address?.port ?? null,
  };
}

/** Adds the services without credentials: health, and reflection of the given services. */
function withoutCredential(
  { unreadyReason, shutdownSignal }: Readiness,
  reflected: readonly DescService[],
): (router: ConnectRouter) => void {
  return (router) => {
    addHealth(router, SERVED.map(nameOf), () => unreadyReason() === undefined, shutdownSignal);
    addReflection(router, [...reflected, ...WITHOUT_CREDENTIAL], shutdownSignal);
  };
}

function nameOf({ typeName }: DescService): string {
  return typeName;
}
