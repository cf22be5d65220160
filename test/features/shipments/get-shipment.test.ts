import { expect, test } from "vitest";
import { GetShipmentResponseSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { book, BOOKED_SHIPMENT, NO_REFERENCE, NO_SHIPMENT } from "../../support/bookings.ts";
import { inDialect } from "../../support/dialect.ts";
import { errorBody } from "../../support/endpoints.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();

test("a shipment read by JSON or by gRPC is the whole shipment as booked", async () => {
  const booked = await book(service, apiKey);
  const shipment = booked["reference"];
  const { status, body } = await service.request(`/v1/shipments/${shipment}`, { apiKey });
  expect([status, body]).toEqual([200, { data: BOOKED_SHIPMENT }]);
  expect(body).toEqual({ data: booked });

  const answer = await service.grpcClient(apiKey).getShipment({
    shipment,
  });
  expect(inDialect(GetShipmentResponseSchema, answer)).toEqual({ data: booked });
});

test("a missing shipment is 404, whatever the reference looks like", async () => {
  for (const name of [
    NO_REFERENCE,
    "SHP-1",
    "0",
    "%F0%9F%93%A6",
    "a".repeat(4_000),
    "..%2F..",
    "%",
  ]) {
    const { status, body } = await service.request(`/v1/shipments/${name}`, { apiKey });
    expect({ status, body }, name).toEqual({ status: 404, body: NO_SHIPMENT });
  }
  const grpc = service.grpcClient(apiKey);
  expect(await rpcError(grpc.getShipment({ shipment: NO_REFERENCE }))).toEqual(
    rpcRefusal("NotFound", "SHIPMENT_NOT_FOUND", NO_SHIPMENT.message),
  );
});

test("a blank reference is refused as missing, by JSON and by gRPC", async () => {
  const text = "shipment is required.";
  const { status, body } = await service.request("/v1/shipments/%20", { apiKey });
  expect({ status, body }).toEqual({ status: 422, body: errorBody(text, "shipment") });
  const grpc = service.grpcClient(apiKey);
  expect(await rpcError(grpc.getShipment({ shipment: " " }))).toEqual(
    rpcRefusal("InvalidArgument", "FIELD_INVALID", text, "shipment"),
  );
});
