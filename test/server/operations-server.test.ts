import { createClient } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.js";
import { SERVICES } from "../../src/server/services.ts";
import { endpointsAt, errorBody } from "../support/endpoints.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { parsePrometheus } from "../support/metrics.ts";
import { untilRefused, rawHttp } from "../support/raw-http.ts";
import { PROTOCOLS } from "../support/rpc-client.ts";
import { type LogLine, spawnService } from "../support/service-process.ts";
import { startService } from "../support/service.ts";

const service = await startService({ operationsPort: 0 });
const operations = endpointsAt(service.operationsUrl!, service.grpcUrl);

const NOTHING = errorBody("This path does not exist. Available paths: /metrics, /healthz and /readyz.");

test("the operations server serves only metrics, health and readiness", async () => {
  const metrics = await operations.request("/metrics?debug=1");
  expect(metrics.status).toBe(200);
  expect(metrics.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(parsePrometheus(metrics.text).has("shipments_requests_total")).toBe(true);
  const probes = await Promise.all(["/healthz", "/readyz"].map((it) => operations.request(it)));
  expect(probes.map(({ status, body }) => [status, body])).toEqual([
    [200, { status: "alive" }],
    [200, { status: "ready" }],
  ]);

  const paths = ["/", "/v1/workspace", "/v1/shipments/quote", "/openapi.json", "/admin/v1/health"];
  for (const path of paths) {
    const { status, body, headers } = await operations.request(path);
    expect([path, status, body]).toEqual([path, 404, NOTHING]);
    expect(headers.get("x-request-id")).toMatch(/\S/);
  }
  const posted = await operations.request("/metrics", { body: {} });
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

test("the operations server refuses invalid requests like the public one", async () => {
  for (const [bytes, message] of [
    ["nonsense\r\n\r\n", "The request is not valid HTTP."],
    ["GET /metrics HTTP/1.1\r\n\r\n", "The Host header is missing."],
  ] as const) {
    const { status, body, code } = await rawHttp(service.operationsUrl!, bytes);
    expect([status, body, code]).toEqual([400, errorBody(message), "REQUEST_MALFORMED"]);
  }
});

test("with an operations server, the public one has probes and no metrics", async () => {
  for (const path of ["/healthz", "/readyz"]) {
    expect((await service.request(path)).status).toBe(200);
  }
  const { status, body } = await service.request("/metrics");
  expect([status, body]).toEqual([404, errorBody("This path does not exist.")]);
});

test.each(["gRPC on the gRPC server", "Connect on the HTTP server"] as const)(
  "with an operations server, reflection over %s lists only workspace services",
  async (protocol) => {
    const client = createClient(ServerReflection, PROTOCOLS[protocol](service));
    const answers = await Array.fromAsync(
      client.serverReflectionInfo(
        (async function* () {
          yield { messageRequest: { case: "listServices", value: "" } } as const;
          for (const value of ["admin.v1.OperatorService", "account.v1.AccountService"]) {
            const symbol = `shipments.${value}`;
            yield { messageRequest: { case: "fileContainingSymbol", value: symbol } } as const;
          }
        })(),
      ),
    );
    const [listed, ...others] = answers.map((it) => it.messageResponse);
    expect(listed).toMatchObject({
      case: "listServicesResponse",
      value: {
        service: [
          ...SERVICES.map(({ typeName }) => ({ name: typeName })),
          { name: "grpc.health.v1.Health" },
          { name: "grpc.reflection.v1.ServerReflection" },
          { name: "grpc.reflection.v1alpha.ServerReflection" },
        ],
      },
    });
    expect(others.map((it) => it.case)).toEqual(["errorResponse", "errorResponse"]);
  },
);

test("before the database is available the operations server responds, and the public ports are closed", async () => {
  const [port, grpcPort] = [await freePort(), await freePort()];
  const starting = spawnService({
    HOST: "127.0.0.1",
    PORT: `${port}`,
    GRPC_PORT: `${grpcPort}`,
    OPERATIONS_PORT: "0",
    DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
  });
  const waiting = ({ msg }: LogLine) => String(msg).startsWith("waiting for the database");
  await eventually("the service to wait for the database", () => starting.log().some(waiting));
  const { operations } = starting.log().find(({ msg }) => msg === "starting")!;
  expect(operations).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const { request } = endpointsAt(operations as string, "");
  const ready = await request("/readyz");
  expect([ready.status, ready.body]).toEqual([503, { status: "starting" }]);
  expect((await request("/healthz")).status).toBe(200);
  expect((await request("/metrics")).status).toBe(200);
  for (const closed of [port, grpcPort]) await untilRefused(`http://127.0.0.1:${closed}`);

  starting.process.kill("SIGTERM");
  expect(await starting.ended).toMatchObject({ code: 0, stderr: "" });
});
