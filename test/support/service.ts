import { readFileSync } from "node:fs";
import { createClient, type Client } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { pino } from "pino";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { createApp, type App, type Outside } from "../../src/app.ts";
import { publishTariff } from "../../src/platform/publish-tariff.ts";
import { createWorkspace } from "../../src/workspaces/create-workspace.ts";
import { createDatabase } from "./database.ts";

/** The sample tariff, as an operator would publish it: five counties, USD. */
export const SAMPLE_TARIFF: Readonly<Record<string, unknown>> = JSON.parse(
  readFileSync(new URL("../../src/platform/sample-tariff.json", import.meta.url), "utf8"),
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

/** A whole service on a database of its own, in this process, listening on loopback. */
export interface TestService {
  readonly app: App;
  readonly databaseUrl: string;
  readonly httpUrl: string;
  readonly grpcUrl: string;
  /** Makes a workspace, with the manual payment provider unless told otherwise. */
  addWorkspace(options?: { paymentProvider?: "manual" | undefined }): Promise<TestWorkspace>;
  /** A request to the JSON door; with a body it is a POST of JSON. */
  request(path: string, options?: RequestOptions): Promise<Answer>;
  /** A gRPC client of the shipment service that sends the key as metadata. */
  grpcClient(apiKey: string): Client<typeof ShipmentService>;
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

/** Starts a service with the sample tariff published; close it when done. */
export async function startService(
  options: {
    tariff?: unknown;
    now?: () => Date;
    outside?: Outside;
    /** A database that somebody else drops; else the service has one of its own. */
    databaseUrl?: string;
    /** Whether webhooks may go to this machine by http; they may unless told otherwise. */
    webhookAllowLoopbackHttp?: boolean;
  } = {},
): Promise<TestService> {
  const database =
    options.databaseUrl === undefined
      ? await createDatabase()
      : { url: options.databaseUrl, drop: async () => {} };
  const { webhookAllowLoopbackHttp = true } = options;
  const config = {
    host: "127.0.0.1",
    port: 0,
    grpcPort: 0,
    databaseUrl: database.url,
    webhookAllowLoopbackHttp,
  };
  const app = createApp(config, pino({ level: "silent" }), options.now, options.outside);
  const { http, grpc } = await app.listen();
  const tariff = options.tariff ?? SAMPLE_TARIFF;
  const { faults } = await publishTariff(app.em, tariff, undefined);
  if (faults !== undefined) throw new Error(`the test's tariff: ${JSON.stringify(faults)}`);
  await app.prepare();
  const httpUrl = `http://127.0.0.1:${http.port}`;
  const grpcUrl = `http://127.0.0.1:${grpc.port}`;
  return {
    app,
    databaseUrl: database.url,
    httpUrl,
    grpcUrl,
    async addWorkspace({ paymentProvider } = { paymentProvider: "manual" }) {
      const { workspace, apiKey } = await createWorkspace(app.em, {
        name: "Test",
        paymentProvider,
      });
      return { id: workspace.id, apiKey };
    },
    request: async (path, options = {}) =>
      readAnswer(await fetch(`${httpUrl}${path}`, requestInit(options))),
    grpcClient: (apiKey) =>
      createClient(
        ShipmentService,
        createGrpcTransport({
          baseUrl: grpcUrl,
          interceptors: [
            (next) => (request) => {
              request.header.set("authorization", `Bearer ${apiKey}`);
              return next(request);
            },
          ],
        }),
      ),
    async close() {
      await app.close();
      await database.drop();
    },
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
