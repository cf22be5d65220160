import { describe, expect, test } from "vitest";
import {
  GetWorkspaceResponseSchema,
  WorkspaceService,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import { DEFAULT_LIMITS } from "../../../src/domain/rate-limit.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { BOOKING, COVERED_ROUTE, RPC_ROUTE, RPC_BOOKING } from "../../support/bookings.ts";
import { createDatabase } from "../../support/database.ts";
import { inDialect } from "../../support/dialect.ts";
import { errorBody } from "../../support/endpoints.ts";
import { makeWorkspace, setPaymentProvider } from "../../support/platform.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { sharedService, startUnprepared, type UnpreparedService } from "../../support/service.ts";
import { SAMPLE_TARIFF } from "../../support/tariffs.ts";

const LIMITS = {
  request_bytes: 65_536,
  page_size: 100,
  batch_routes: 100,
  metadata_keys: 20,
  ...DEFAULT_LIMITS,
};

/** Expects the workspace to read this of itself, the same by JSON and by gRPC. */
async function expectBoth(
  service: UnpreparedService,
  { id, apiKey }: { id: number; apiKey: string },
  payment_provider: string | null,
  booking_blockers: string[],
): Promise<void> {
  const rest = { test: false, time_zone: "UTC", address_search: false };
  const own = { id, name: "Test", payment_provider, ...rest };
  const data = { ...own, limits: LIMITS, booking_blockers };
  const { status, body } = await service.request("/v1/workspace", { apiKey });
  expect({ status, body }).toEqual({ status: 200, body: { data } });
  const response = await service.grpcClient(apiKey, WorkspaceService).getWorkspace({});
  expect(inDialect(GetWorkspaceResponseSchema, response)).toEqual({ data });
}

describe("with a tariff in force", async () => {
  const service = await sharedService();

  test("a workspace reads its name, provider, limits and what blocks booking", async () => {
    const workspace = await service.addWorkspace({ paymentProvider: undefined });
    await expectBoth(service, workspace, null, ["payment_provider"]);
    await setPaymentProvider(service.app.em, workspace.id, "manual");
    await expectBoth(service, workspace, "manual", []);
    await setPaymentProvider(service.app.em, workspace.id, undefined);
    await expectBoth(service, workspace, null, ["payment_provider"]);
  });
});

describe("without a tariff", async () => {
  const NO_TARIFF = errorBody("No tariff has been published yet; the operator publishes one.");
  const service = await startUnprepared((await createDatabase()).url);
  await service.app.prepare();
  const fields = { name: "Test", paymentProvider: "manual" } as const;
  const workspace = await makeWorkspace(service.app.em, fields);

  test("what needs none is served, and the workspace reads that there is none", async () => {
    await expectBoth(service, workspace, "manual", ["tariff"]);
    await setPaymentProvider(service.app.em, workspace.id, undefined);
    await expectBoth(service, workspace, null, ["payment_provider", "tariff"]);
    await setPaymentProvider(service.app.em, workspace.id, "manual");
    const { apiKey } = workspace;
    expect((await service.request("/v1/shipments", { apiKey })).status).toBe(200);
  });

  test.each([
    ["a quote", "/v1/shipments/quote", COVERED_ROUTE],
    ["a batch of quotes", "/v1/shipments/quote/batch", { routes: [COVERED_ROUTE] }],
    ["a quote with an id", "/v1/quotes", COVERED_ROUTE],
    ["a batch of quotes with ids", "/v1/quotes/batch", { routes: [COVERED_ROUTE] }],
    ["a booking", "/v1/shipments", BOOKING],
  ])("%s is refused as unavailable by JSON", async (_, path, body) => {
    const { apiKey } = workspace;
    const answer = await service.request(path, { apiKey, body });
    expect([answer.status, answer.headers.get("retry-after"), answer.body]).toEqual([
      503,
      "1",
      NO_TARIFF,
    ]);
  });

  test("a quote and a booking are refused as unavailable by gRPC", async () => {
    const client = service.grpcClient(workspace.apiKey);
    for (const call of [client.quoteShipment(RPC_ROUTE), client.createShipment(RPC_BOOKING)]) {
      expect(await rpcError(call)).toEqual({
        code: "Unavailable",
        message: NO_TARIFF.message,
        details: {
          ErrorInfo: { reason: "UNAVAILABLE", domain: "shipments.v1" },
          RetryInfo: { retryDelay: "1s" },
        },
      });
    }
  });

  test("the service is alive and not ready", async () => {
    expect((await service.request("/healthz")).status).toBe(200);
    const { status, body } = await service.request("/readyz");
    expect({ status, body }).toEqual({
      status: 503,
      body: { status: "waiting for its first tariff" },
    });
  });

  test("a version that is scheduled or called off blocks booking still", async () => {
    await publishDocument(service.app.em, SAMPLE_TARIFF);
    const set = (columns: string) => service.app.em.execute(`update tariff_version set ${columns}`);
    await expectBoth(service, workspace, "manual", []);
    await set("effective_at = now() + interval '1 hour'");
    await expectBoth(service, workspace, "manual", ["tariff"]);
    await set("effective_at = now(), called_off_at = now()");
    await expectBoth(service, workspace, "manual", ["tariff"]);
  });
});
