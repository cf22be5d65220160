import { createClient } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "../../../gen/grpc/health/v1/health_pb.js";
import { PROTOCOLS } from "../../support/rpc-client.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { startService, startUnprepared } from "../../support/service.ts";

const SHIPMENTS = "shipments.v1.ShipmentService";

const service = await startService();

describe.each(Object.entries(PROTOCOLS))("%s", (_, transportTo) => {
  const health = () => createClient(Health, transportTo(service));

  test("reports the server and its services as serving, without a credential", async () => {
    expect((await health().check({})).status).toBe(Status.SERVING);
    expect((await health().check({ service: SHIPMENTS })).status).toBe(Status.SERVING);
  });

  test("returns NOT_FOUND for the health of an unknown service", async () => {
    expect(await rpcError(health().check({ service: "shipments.v1.Nope" }))).toEqual({
      code: "NotFound",
      message: 'There is no service "shipments.v1.Nope" here.',
      details: {},
    });
  });

  test("a health watch starts with the current status", async () => {
    for (const [name, status] of [
      [SHIPMENTS, Status.SERVING],
      ["shipments.v1.Nope", Status.SERVICE_UNKNOWN],
    ] as const) {
      for await (const first of health().watch({ service: name })) {
        expect(first.status).toBe(status);
        break;
      }
    }
  });
});

test("reports a service that is not ready as not serving, and a watch reports the change", async () => {
  const unprepared = await startUnprepared(service.databaseUrl);
  const transport = PROTOCOLS["gRPC on the gRPC server"](unprepared);
  const health = createClient(Health, transport);
  expect((await health.check({})).status).toBe(Status.NOT_SERVING);

  const seen: Status[] = [];
  for await (const { status } of health.watch({})) {
    seen.push(status);
    if (seen.length === 1) await unprepared.app.prepare();
    else break;
  }
  expect(seen).toEqual([Status.NOT_SERVING, Status.SERVING]);
  await unprepared.app.close();
});

test.each(["gRPC on the gRPC server", "Connect on the HTTP server"] as const)(
  "a health watch over %s ends at the caller's deadline",
  async (protocol) => {
    const health = createClient(Health, PROTOCOLS[protocol](service));
    const headers = { "grpc-timeout": "300m", "connect-timeout-ms": "300" };
    const watching = Array.fromAsync(health.watch({}, { headers }));
    expect(await rpcError(watching)).toEqual({
      code: "DeadlineExceeded",
      message: "The caller's deadline passed before the response.",
      details: { ErrorInfo: { reason: "DEADLINE_EXCEEDED", domain: "shipments.v1" } },
    });
  },
);

test.for(["gRPC on the gRPC server", "Connect on the HTTP server"] as const)(
  "a health watch over %s reports NOT_SERVING before it ends when the service closes",
  async (protocol) => {
    const closing = await startService();
    const seen: Status[] = [];
    let closed: Promise<void> | undefined;
    const health = createClient(Health, PROTOCOLS[protocol](closing));
    for await (const { status } of health.watch({ service: SHIPMENTS })) {
      seen.push(status);
      closed ??= closing.close();
    }
    expect(seen).toEqual([Status.SERVING, Status.NOT_SERVING]);
    await closed;
  },
);

test("a connected health watcher does not prevent the service from closing", async () => {
  const closing = await startService();
  const transport = PROTOCOLS["Connect on the gRPC server"](closing);
  for await (const _ of createClient(Health, transport).watch({})) break;
});
