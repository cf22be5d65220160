import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createOrm } from "../../src/db/orm.ts";
import { ENTITIES } from "../../src/server/entities.ts";
import { BOOKING, COVERED_ROUTE } from "../support/bookings.ts";
import { runCommand, type Environment } from "../support/command.ts";
import { createDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { startOtlpReceiver } from "../support/otlp-receiver.ts";
import { makeWorkspace } from "../support/platform.ts";
import { publishDocument } from "../support/publish-document.ts";
import { startServiceProcess, type LogLine, type ServiceProcess } from "../support/service-process.ts";
import { SAMPLE_TARIFF } from "../support/tariffs.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const database = await createDatabase();
const orm = createOrm(database.url, { entities: ENTITIES });
await publishDocument(orm.em, SAMPLE_TARIFF);
const { apiKey } = await makeWorkspace(orm.em, { name: "Acme", paymentProvider: "manual" });
await orm.close();

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const PARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;

async function start(environment: Environment): Promise<ServiceProcess> {
  const service = await startServiceProcess({ DATABASE_URL: database.url, ...environment });
  await service.untilReady();
  return service;
}

const quote = (service: ServiceProcess, requestId: string, headers: Record<string, string> = {}) =>
  service.request("/v1/shipments/quote", {
    apiKey,
    body: COVERED_ROUTE,
    headers: { "x-request-id": requestId, ...headers },
  });

const lineOf = (service: ServiceProcess, requestId: string) =>
  eventually(`the log line of ${requestId}`, () => service.log().find((line) => line.requestId === requestId));

async function stop({ process, ended }: ServiceProcess) {
  process.kill("SIGTERM");
  return ended;
}

test("the environment sets the trace endpoint, headers, service name and sampling", async () => {
  const otlp = await startOtlpReceiver();
  onTestFinished(otlp.close);
  const service = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${otlp.endpoint}/of-a-team/`,
    OTEL_EXPORTER_OTLP_HEADERS: "x-team=shipping",
    OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
    OTEL_SERVICE_NAME: "booking",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=trial,service.name=other,",
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "0",
  });
  await quote(service, "by-ratio");
  await quote(service, "by-parent", { traceparent: PARENT });
  const { resource, traceId } = await otlp.spanOf("by-parent");
  expect(traceId).toBe(TRACE_ID);
  expect(resource).toMatchObject({
    "service.name": "booking",
    "service.version": expect.any(String),
    "deployment.environment.name": "trial",
  });
  expect(otlp.requests[0]).toMatchObject({
    path: "/of-a-team/v1/traces",
    headers: { "x-team": "shipping", "content-encoding": "gzip" },
  });
  expect(otlp.spans.map(({ attributes }) => attributes["shipments.request_id"])).toEqual(["by-parent"]);
  // Even a call whose trace is not recorded has a trace id.
  expect((await lineOf(service, "by-ratio")).traceId).toMatch(/^[0-9a-f]{32}$/);
});

/**
 * Makes a process append the URL of every loaded module to a file. Standard error cannot be used:
 * it is a pipe, and writing to a pipe without a reader would end the process.
 */
const LIST_MODULES = `data:text/javascript,${encodeURIComponent(`
  import { appendFileSync } from "node:fs";
  import { registerHooks } from "node:module";
  registerHooks({
    load(url, context, next) {
      appendFileSync(process.env.LOADED_MODULES, url + "\\n");
      return next(url, context);
    },
  });
`)}`;

/** Returns the OpenTelemetry modules that a service has loaded after `use`. */
async function modulesOf(
  environment: Environment,
  use: (service: ServiceProcess) => Promise<unknown>,
): Promise<string[]> {
  const folder = makeTemporaryFolder("modules");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const loaded = join(folder, "loaded");
  const listing = { NODE_OPTIONS: `--import ${LIST_MODULES}`, LOADED_MODULES: loaded };
  await use(await start({ ...listing, ...environment }));
  return ofOpenTelemetry(readFileSync(loaded, "utf8"));
}

/** Selects OpenTelemetry modules, except the API package, which the Prometheus client loads. */
const ofOpenTelemetry = (loaded: string) =>
  loaded
    .split("\n")
    .flatMap(sourcesOf)
    .filter((url) => /src\/telemetry|@opentelemetry\/(?!api\/)/.test(url));

/** Returns the sources of a bundled module. Returns other modules themselves. */
function sourcesOf(url: string): string[] {
  if (!url.includes("/src/built/")) return [url];
  const map = new URL(`${url}.map`);
  // One file comes from the bundler and has no sources.
  const { sources } = existsSync(map) ? JSON.parse(readFileSync(map, "utf8")) : { sources: [] };
  return sources.map((source: string) => new URL(source, url).href);
}

test("a call's log line has its trace id, and pending spans are sent at shutdown", async () => {
  const otlp = await startOtlpReceiver();
  onTestFinished(otlp.close);
  const modules = await modulesOf({ OTEL_EXPORTER_OTLP_ENDPOINT: otlp.endpoint }, async (service) => {
    await quote(service, "own-trace");
    await quote(service, "taken-trace", { traceparent: PARENT });
    expect(await stop(service)).toMatchObject({ code: 0, stderr: "" });
    const line = await lineOf(service, "own-trace");
    expect(await otlp.spanOf("own-trace")).toMatchObject({ traceId: line.traceId });
    expect(await lineOf(service, "taken-trace")).toMatchObject({ traceId: TRACE_ID });
    expect(await otlp.spanOf("taken-trace")).toMatchObject({ traceId: TRACE_ID });
  });
  expect(modules.length).toBeGreaterThan(10);
});

/** Variables that a service with tracing enabled would reject. */
const INVALID_SETTINGS = {
  OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf",
  OTEL_TRACES_SAMPLER: "sometimes",
  OTEL_TRACES_SAMPLER_ARG: "many",
  OTEL_RESOURCE_ATTRIBUTES: "production",
};
const INVALID_ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" };

test.for([
  ["without an endpoint", { ...INVALID_SETTINGS, OTEL_TRACES_EXPORTER: "zipkin", OTEL_SDK_DISABLED: "perhaps" }],
  ["with the exporter none", { ...INVALID_SETTINGS, ...INVALID_ENDPOINT, OTEL_TRACES_EXPORTER: "none" }],
  ["with the SDK disabled", { ...INVALID_SETTINGS, ...INVALID_ENDPOINT, OTEL_SDK_DISABLED: "true" }],
] as const)(
  "%s, no tracing code is loaded, other tracing variables may have any value, and log lines have the caller's trace id",
  async ([, environment]) => {
    const untraced = await modulesOf(environment, async (service) => {
      expect((await quote(service, "off", { traceparent: PARENT })).status).toBe(200);
      await quote(service, "off-malformed", { traceparent: "00-1-2-01" });
      expect(await lineOf(service, "off")).toMatchObject({ traceId: TRACE_ID });
      expect(await lineOf(service, "off-malformed")).not.toHaveProperty("traceId");
      expect(await stop(service)).toMatchObject({ code: 0, stderr: "" });
    });
    expect(untraced).toEqual([]);
  },
);

/** Endpoints that do not accept traces. */
const FAILING_RECEIVERS: readonly (readonly [what: string, start: () => Promise<string>])[] = [
  ["that is down", async () => "http://127.0.0.1:1"],
  ["that accepts traces and never responds", startSilentServer],
  ["that refuses them", startRefusingReceiver],
];

test.for(FAILING_RECEIVERS)(
  "a receiver %s does not affect responses and causes one warning",
  async ([, startReceiver]) => {
    const service = await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: await startReceiver(),
      OTEL_EXPORTER_OTLP_TIMEOUT: "300",
    });
    for (let i = 0; i < 3; i++) {
      const requestId = `unsent-${i}`;
      const { status } = await service.request("/v1/shipments", { apiKey, body: BOOKING });
      expect(status).toBe(201);
      await quote(service, requestId);
      await eventually("the warning", () => warnings(service).length > 0);
    }
    expect(await stop(service)).toMatchObject({ code: 0, stderr: "" });
    expect(warnings(service)).toEqual([
      expect.objectContaining({
        level: "warn",
        notLogged: 0,
        msg: expect.stringMatching(/^tracing: \d+ spans were dropped: /),
      }),
    ]);
  },
);

const warnings = (service: ServiceProcess): LogLine[] =>
  service.log().filter(({ msg }) => String(msg).startsWith("tracing:"));

async function startRefusingReceiver(): Promise<string> {
  const { endpoint, close } = await startOtlpReceiver(500);
  onTestFinished(close);
  return endpoint;
}

async function startSilentServer(): Promise<string> {
  const server = createServer((socket) => void socket.resume());
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.for([
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "must be an address such as http://collector:4318"],
  [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "http://collector:4318?x=1",
    "must be an address such as http://collector:4318",
    "http://collector:4318?...",
  ],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/#x", "must be an address such as http://collector:4318"],
  ["OTEL_SDK_DISABLED", "perhaps", "must be true or false"],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "must be http/json, the only supported protocol"],
  ["OTEL_TRACES_EXPORTER", "zipkin", "must be otlp or none"],
  [
    "OTEL_TRACES_SAMPLER",
    "sometimes",
    "must be one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio",
  ],
  ["OTEL_TRACES_SAMPLER_ARG", "1.5", "must be a number from 0 to 1"],
  ["OTEL_RESOURCE_ATTRIBUTES", "production", "must be a list such as region=eu,team=shipping"],
] as const)(
  "refuses %s at startup if calls are traced and it is %s",
  async ([name, value, sentence, shown = value]) => {
    const { code, stderr } = await runCommand(["serve"], {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
      [name]: value,
    });
    const refusal = `${name}: ${sentence}; it is ${JSON.stringify(shown)}\n`;
    expect({ code, stderr }).toEqual({ code: 1, stderr: refusal });
  },
);
