import { afterAll, beforeAll, expect, test } from "vitest";
import { BOOKING, startService, type TestService } from "../support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test("a booking is answered 201 with the shipment as booked", async () => {
  const { apiKey } = await service.addWorkspace();
  const { status, body } = await service.request("/v1/shipments", { apiKey, body: BOOKING });
  expect(status).toBe(201);
  const { data } = body;
  expect(data).toEqual({
    reference: expect.stringMatching(/^SHP-[0-9A-HJKMNP-TV-Z]{12}$/),
    status: "pending",
    payment_status: "awaiting_payment",
    created_by: null,
    pickup_address: BOOKING.pickup_address,
    pickup_lat: BOOKING.pickup_lat,
    pickup_lng: BOOKING.pickup_lng,
    dropoff_address: BOOKING.dropoff_address,
    dropoff_lat: BOOKING.dropoff_lat,
    dropoff_lng: BOOKING.dropoff_lng,
    weight_kg: BOOKING.weight_kg,
    distance_km: 9.532,
    distance_fee: 11.44,
    weight_fee: 1.25,
    base_fee: 5,
    subtotal: 12.69,
    total: 12.69,
    currency: "USD",
    customer: {
      id: expect.any(Number),
      name: BOOKING.customer_name,
      email: BOOKING.customer_email,
      id_number: null,
    },
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updated_at: data.created_at,
    cancelled_at: null,
    cancel_reason: null,
    cancel_note: null,
    external_reference: null,
    metadata: {},
    etag: "1",
  });
});
