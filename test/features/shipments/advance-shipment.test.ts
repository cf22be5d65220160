import { expect, test } from "vitest";
import { data } from "../../support/answers.ts";
import { ANY_TIME, bookAnd, NO_REFERENCE, NO_SHIPMENT, takeStep } from "../../support/bookings.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();

test("a paid shipment advances to in transit and then to delivered, with no other changes", async () => {
  const paid = await bookAnd(service, apiKey, ["pay"]);
  const shipment = paid["reference"];
  const moved = await data(takeStep(service, apiKey, shipment, "advance"));
  expect(moved).toEqual({ ...paid, status: "in_transit", updated_at: ANY_TIME, etag: "3" });
  expect(moved.updated_at >= paid["updated_at"]).toBe(true);
  const delivered = await data(takeStep(service, apiKey, shipment, "advance"));
  const delivered_at = delivered.updated_at;
  const changed = { status: "delivered", delivered_at, updated_at: ANY_TIME, etag: "4" };
  expect(delivered).toEqual({ ...paid, ...changed });
  expect(await data(service.as(apiKey).getShipment({ shipment }))).toEqual(delivered);
});

test("advancing needs no body and accepts any content type", async () => {
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
