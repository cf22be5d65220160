import { expect, test } from "vitest";
import { book, BOOKED_SHIPMENT, BOOKING, RPC_BOOKING } from "../../support/bookings.ts";
import { errorBody } from "../../support/endpoints.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();

function find(externalReference: string) {
  const query = new URLSearchParams({ external_reference: externalReference });
  return service.request(`/v1/shipments?${query}`, { apiKey });
}

test("a shipment is found by its external reference as given, trimmed", async () => {
  const booked = await book(service, apiKey, { external_reference: "  Order №1/🙂 " });
  expect(booked).toEqual({ ...BOOKED_SHIPMENT, external_reference: "Order №1/🙂" });
  expect((await find("Order №1/🙂")).body).toEqual({ data: [booked], next_page_token: "" });
  expect((await find("order №1/🙂")).body).toEqual({ data: [], next_page_token: "" });
});

test("a second booking with one external reference is 409, and names the first", async () => {
  const { reference } = await book(service, apiKey, { external_reference: "once" });
  const { status, body } = await service.request("/v1/shipments", {
    apiKey,
    body: { ...BOOKING, external_reference: "once" },
  });
  const text = `external_reference belongs to the shipment ${reference} already.`;
  const metadata = { shipment: reference };
  expect({ status, body }).toEqual({
    status: 409,
    body: { ...errorBody(text, "external_reference"), metadata },
  });

  const grpc = service.grpcClient(apiKey);
  const call = grpc.createShipment({ ...RPC_BOOKING, externalReference: "once" });
  expect(await rpcError(call)).toEqual(
    rpcRefusal("AlreadyExists", "EXTERNAL_REFERENCE_TAKEN", text, "external_reference", {
      shipment: reference,
    }),
  );
});

test("an external reference stays taken when its shipment is cancelled, and is free in another workspace", async () => {
  const { reference } = await book(service, apiKey, { external_reference: "kept" });
  await service.request(`/v1/shipments/${reference}/cancel`, { apiKey, method: "POST" });
  const again = { ...BOOKING, external_reference: "kept" };
  expect((await service.request("/v1/shipments", { apiKey, body: again })).status).toBe(409);
  const other = await service.addWorkspace();
  expect(await book(service, other.apiKey, { external_reference: "kept" })).toMatchObject({
    external_reference: "kept",
  });
});

test("any number of shipments can be without an external reference", async () => {
  for (const external_reference of [null, "", "  "]) {
    expect(await book(service, apiKey, { external_reference })).toEqual(BOOKED_SHIPMENT);
  }
});

test("an external reference has at most a hundred characters", async () => {
  await book(service, apiKey, { external_reference: "🙂".repeat(100) });
  const { status, body } = await service.request("/v1/shipments", {
    apiKey,
    body: { ...BOOKING, external_reference: "x".repeat(101) },
  });
  expect([status, Object.keys(body.errors)]).toEqual([422, ["external_reference"]]);
});
