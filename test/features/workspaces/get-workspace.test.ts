import { afterAll, beforeAll, expect, test } from "vitest";
import {
  GetWorkspaceResponseSchema,
  WorkspaceService,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import {
  connectPaymentProvider,
  disconnectPaymentProvider,
} from "../../../src/features/workspace-admin/connect-payment-provider.ts";
import { DEFAULT_LIMITS } from "../../../src/domain/rate-limit.ts";
import { inDialect } from "../../support/dialect.ts";
import { startService, type TestService } from "../../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test("a workspace reads its name, provider and limits, the same by JSON and by gRPC", async () => {
  const { id, apiKey } = await service.addWorkspace({ paymentProvider: undefined });
  const grpc = service.grpcClient(apiKey, WorkspaceService);
  const expectBoth = async (payment_provider: string | null) => {
    const limits = {
      request_bytes: 65_536,
      page_size: 100,
      batch_routes: 100,
      metadata_keys: 20,
      ...DEFAULT_LIMITS,
    };
    const expected = { data: { id, name: "Test", payment_provider, limits } };
    const { status, body } = await service.request("/v1/workspace", { apiKey });
    expect({ status, body }).toEqual({ status: 200, body: expected });
    expect(inDialect(GetWorkspaceResponseSchema, await grpc.getWorkspace({}))).toEqual(expected);
  };
  await expectBoth(null);
  await connectPaymentProvider(service.app.em, id, "manual");
  await expectBoth("manual");
  await disconnectPaymentProvider(service.app.em, id);
  await expectBoth(null);
});
