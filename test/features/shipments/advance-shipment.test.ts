import { expect, test } from "vitest";
import { AdvanceShipmentResponseSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { ANY_TIME, bookAnd, NO_REFERENCE, NO_SHIPMENT, takeStep } from "../../support/bookings.ts";
import { inDialect } from "../../support/dialect.ts";
import { errorBody } from "../../support/endpoints.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();

test("a paid shipment goes in transit, then is delivered; nothing else about it changes", async () => {
  const paid = await bookAnd(service, apiKey, ["pay"]);
  const shipment = paid["reference"];
  const { status, body } = await takeStep(service, apiKey, shipment, "advance");
  expect(status).toBe(200);
  expect(body).toEqual({
    data: { ...paid, status: "in_transit", updated_at: ANY_TIME, etag: "3" },
  });
  expect(body.data.updated_at >= paid["updated_at"]).toBe(true);

  const grpc = service.grpcClient(apiKey);
  const delivered = inDialect(
    AdvanceShipmentResponseSchema,
    await grpc.advanceShipment({ shipment }),
  );
  expect(delivered).toEqual({
    data: { ...paid, status: "delivered", updated_at: ANY_TIME, etag: "4" },
  });
  const read = await service.request(`/v1/shipments/${shipment}`, { apiKey });
  expect(read.body).toEqual(delivered);
});

test("an advance that the state does not allow is refused in the form of a refused cancel, and changes nothing", async () => {
  const pending = await bookAnd(service, apiKey, []);
  const text = "The shipment cannot be advanced because it is pending.";
  const { status, body } = await takeStep(service, apiKey, pending["reference"], "advance");
  expect({ status, body }).toEqual({ status: 422, body: errorBody(text, "shipment") });
  const grpc = service.grpcClient(apiKey);
  expect(await rpcError(grpc.advanceShipment({ shipment: pending["reference"] }))).toEqual(
    rpcRefusal("FailedPrecondition", "SHIPMENT_STATE", text, "shipment"),
  );
  const read = await service.request(`/v1/shipments/${pending["reference"]}`, { apiKey });
  expect(read.body).toEqual({ data: pending });
});

test("an advance needs no body, and accepts any content type", async () => {
  const { reference } = await bookAnd(service, apiKey, ["pay"]);
  const bare = { apiKey, method: "POST", headers: { "content-type": "text/plain" } };
  const { status } = await service.request(`/v1/shipments/${reference}/advance`, bare);
  expect(status).toBe(200);
  const missing = await service.request(`/v1/shipments/${NO_REFERENCE}/advance`, bare);
  expect({ status: missing.status, body: missing.body }).toEqual({
    status: 404,
    body: NO_SHIPMENT,
  });
});
