import { expect, test } from "vitest";
import { data } from "../../support/answers.ts";
import { connectTo } from "../../support/database.ts";
import { insertCustomers, insertShipments } from "../../support/insert-shipments.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const sql = await connectTo(service.databaseUrl);

const NONE = { count: 0, more: false, totals: [] };
const NO_QUEUES = {
  to_pay: NONE,
  to_pick_up: NONE,
  in_transit: NONE,
  refund_due: NONE,
  failed: NONE,
};

const count = (apiKey: string, filters: object = {}) => data(service.as(apiKey).countShipments(filters));

function dollars(shipments: number, total: number) {
  return { count: shipments, more: false, totals: [{ currency: "USD", total }] };
}

test("counts the shipments in each queue and in the list, with totals per currency", async () => {
  const { id, apiKey } = await service.addWorkspace();
  await service.addWorkspace();
  expect(await count(apiKey)).toEqual({ listed: NONE, ...NO_QUEUES });
  const customer = await insertCustomers(sql, id, 2);
  const refused = `jsonb '{"dispute": null, "refundError": null, "error": "declined", "processing": false}'`;
  const STATES = [
    ["pending", "awaiting_payment", 1],
    ["awaiting_pickup", "paid", 2],
    ["in_transit", "paid", 3],
    ["delivered", "paid", 4],
    ["cancelled", "refund_pending", 5],
    ["cancelled", "voided", 6],
  ] as const;
  for (const [status, paymentStatus, size] of STATES) {
    await insertShipments(sql, {
      workspace: id,
      count: size,
      customer: `${customer} + i % 2`,
      status: `'${status}'`,
      paymentStatus: `'${paymentStatus}'`,
      createdAt: "timestamptz '2026-01-01' + i * interval '1 day'",
      totalMinor: "1000 + i",
      currency: "case when i = 3 then 'JPY' else 'USD' end",
      paymentDetails: refused,
      externalReference: `'${status} ${paymentStatus} ' || i`,
      salt: `${status} ${paymentStatus} ${id}`,
    });
  }
  const yen = { currency: "JPY", total: 1003 };
  const transit = { count: 3, more: false, totals: [yen, { currency: "USD", total: 20.03 }] };
  const due = { count: 5, more: false, totals: [yen, { currency: "USD", total: 40.12 }] };
  const queues = {
    to_pay: dollars(1, 10.01),
    to_pick_up: dollars(2, 20.03),
    in_transit: transit,
    refund_due: due,
    failed: dollars(1, 10.01),
  };
  const everything = {
    count: 21,
    more: false,
    totals: [
      { currency: "JPY", total: 4012 },
      { currency: "USD", total: 170.44 },
    ],
  };
  expect(await count(apiKey)).toEqual({ listed: everything, ...queues });
  expect(await count(apiKey, { status: "in_transit" })).toEqual({ listed: transit, ...queues });
  expect(await count(apiKey, { payment_status: "refund_pending" })).toEqual({
    listed: due,
    ...queues,
  });
  expect(await count(apiKey, { failed: true })).toEqual({ listed: queues.failed, ...queues });
  const both = { status: "pending", payment_status: "paid" };
  expect(await count(apiKey, both)).toEqual({ listed: NONE, ...queues });
  // All other filters also apply to the counts by queue.
  expect(await count(apiKey, { customer_id: customer, status: "pending" })).toEqual({
    listed: NONE,
    to_pay: NONE,
    to_pick_up: dollars(1, 10.02),
    in_transit: dollars(1, 10.02),
    refund_due: dollars(2, 20.06),
    failed: NONE,
  });
  const days = { created_after: "2026-01-02T12:00:00Z", created_before: "2026-01-04T12:00:00Z" };
  const two = { count: 2, more: false, totals: [yen, { currency: "USD", total: 10.02 }] };
  expect(await count(apiKey, days)).toEqual({
    listed: {
      count: 9,
      more: false,
      totals: [
        { currency: "JPY", total: 4012 },
        { currency: "USD", total: 50.1 },
      ],
    },
    to_pay: NONE,
    to_pick_up: dollars(1, 10.02),
    in_transit: two,
    refund_due: two,
    failed: NONE,
  });
  expect(await count(apiKey, { external_reference: "pending awaiting_payment 1" })).toEqual({
    ...NO_QUEUES,
    listed: dollars(1, 10.01),
    to_pay: dollars(1, 10.01),
    failed: dollars(1, 10.01),
  });
});

test("counts up to 1,000 shipments, totals the newest of them, and reports whether there are more", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const customer = String(await insertCustomers(sql, id, 1));
  const add = (size: number, totalMinor: string, currency: string, salt: string) =>
    insertShipments(sql, {
      workspace: id,
      count: size,
      customer,
      createdAt: `timestamptz '2026-01-01' + interval '${salt} days'`,
      totalMinor,
      currency,
      salt: `${id} ${salt}`,
    });
  await add(1_000, "1", "'USD'", "1");
  const usd = (total: number) => ({ currency: "USD", total });
  const full = { count: 1_000, more: false, totals: [usd(10)] };
  expect(await count(apiKey)).toEqual({ ...NO_QUEUES, listed: full, to_pay: full });
  await add(1, "9007199254740991", "'USD'", "2");
  await add(1, "7", "'EUR'", "0");
  // The newest shipment replaces one of 0.01. The oldest one, in euros, is beyond the limit and not counted.
  const over = { count: 1_000, more: true, totals: [usd(90071992547419.9)] };
  expect(await count(apiKey)).toEqual({ ...NO_QUEUES, listed: over, to_pay: over });
});
