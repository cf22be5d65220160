import { readFileSync } from "node:fs";
import type { DescService } from "@bufbuild/protobuf";
import { createClient, type Client } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { pino } from "pino";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { createApp, type App, type Outside } from "../../src/server/app.ts";
import { publishTariff } from "../../src/features/tariffs/publish-tariff.ts";
import { createWorkspace } from "../../src/features/workspaces/create-workspace.ts";
import { createDatabase, type TestDatabase } from "./database.ts";

/** The sample tariff, as an operator would publish it: five counties, USD. */
export const SAMPLE_TARIFF: Readonly<Record<string, unknown>> = JSON.parse(
  readFileSync(new URL("../../src/server/sample-tariff.json", import.meta.url), "utf8"),
);

/** A route the sample tariff covers: Midtown Manhattan to Prospect Park. */
export const COVERED_ROUTE = {
  pickup_lat: 40.758,
  pickup_lng: -73.9855,
  dropoff_lat: 40.6782,
  dropoff_lng: -73.9442,
  weight_kg: 2.5,
} as const;

/** A booking the sample tariff covers. */
export const BOOKING = {
  ...COVERED_ROUTE,
  customer_name: "Ada Lovelace",
  customer_email: "ada@example.org",
  pickup_address: "1 Times Square, New York",
  dropoff_address: "95 Prospect Park West, Brooklyn",
} as const;

/** A workspace of a test's own. */
export interface TestWorkspace {
  readonly id: number;
  readonly apiKey: string;
}

/** Both doors of a service that listens on loopback. */
export interface Doors {
  readonly httpUrl: string;
  readonly grpcUrl: string;
  /** A request to the JSON door; with a body it is a POST of JSON. */
  request(path: string, options?: RequestOptions): Promise<Answer>;
  /** A gRPC client of the shipment service that sends the key as metadata. */
  grpcClient(apiKey: string): Client<typeof ShipmentService>;
  /** The same of another service. */
  grpcClient<S extends DescService>(apiKey: string, service: S): Client<S>;
}

/** A whole service in this process. */
export interface TestService extends Doors {
  readonly app: App;
  readonly databaseUrl: string;
  /** Makes a workspace, with the manual payment provider unless told otherwise. */
  addWorkspace(options?: { paymentProvider?: "manual" | undefined }): Promise<TestWorkspace>;
  close(): Promise<void>;
}

/** What a request to the JSON door carries. */
export interface RequestOptions {
  readonly apiKey?: string;
  readonly method?: string;
  /** Sent as JSON; text and bytes are sent as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the JSON door answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed JSON; undefined when the text is not JSON. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests assert its shape
  // themselves
  readonly body: any;
}

/**
 * Starts a service with the sample tariff published, on a database of its own unless told which;
 * close it when done.
 */
export async function startService(
  options: ServiceOptions & { database?: TestDatabase } = {},
): Promise<TestService> {
  const database = options.database ?? (await createDatabase());
  const service = await startReplica(database.url, options);
  return {
    ...service,
    async close() {
      await service.close();
      await database.drop();
    },
  };
}

/** How a service under test differs from the usual one. */
interface ServiceOptions {
  readonly tariff?: unknown;
  readonly now?: () => Date;
  readonly outside?: Outside;
  /** Whether webhooks may go to this machine by http; they may unless told otherwise. */
  readonly webhookAllowLoopbackHttp?: boolean;
  /** Where replicas count calls together. */
  readonly redisUrl?: string;
}

/** Starts a service with the tariff published, on a database that stays there when it is closed. */
export async function startReplica(
  databaseUrl: string,
  options: ServiceOptions = {},
): Promise<TestService> {
  const { webhookAllowLoopbackHttp = true, redisUrl } = options;
  const config = {
    host: "127.0.0.1",
    port: 0,
    grpcPort: 0,
    databaseUrl,
    webhookAllowLoopbackHttp,
    redisUrl,
  };
  const app = createApp(config, pino({ level: "silent" }), {
    ...options.outside,
    ...(options.now === undefined ? {} : { now: options.now }),
  });
  const { http, grpc } = await app.listen();
  const tariff = options.tariff ?? SAMPLE_TARIFF;
  const { faults } = await publishTariff(app.em, tariff, undefined);
  if (faults !== undefined) throw new Error(`the test's tariff: ${JSON.stringify(faults)}`);
  await app.prepare();
  return {
    ...openDoors(`http://127.0.0.1:${http.port}`, `http://127.0.0.1:${grpc.port}`),
    app,
    databaseUrl,
    async addWorkspace({ paymentProvider } = { paymentProvider: "manual" }) {
      const { workspace, apiKey } = await createWorkspace(app.em, {
        name: "Test",
        paymentProvider,
      });
      return { id: workspace.id, apiKey };
    },
    close: () => app.close(),
  };
}

/** The ways to call a service that listens at these addresses, in whatever process. */
export function openDoors(httpUrl: string, grpcUrl: string): Doors {
  return {
    httpUrl,
    grpcUrl,
    request: async (path, options = {}) =>
      readAnswer(await fetch(`${httpUrl}${path}`, requestInit(options))),
    grpcClient: ((apiKey: string, service: DescService = ShipmentService) =>
      createClient(
        service,
        createGrpcTransport({
          baseUrl: grpcUrl,
          interceptors: [
            (next) => (request) => {
              request.header.set("authorization", `Bearer ${apiKey}`);
              return next(request);
            },
          ],
        }),
      )) as Doors["grpcClient"],
  };
}

function requestInit({ apiKey, method, body, headers }: RequestOptions): RequestInit {
  const raw = typeof body === "string" || body instanceof Uint8Array;
  return {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: (raw ? body : JSON.stringify(body)) as string }),
  };
}

async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
