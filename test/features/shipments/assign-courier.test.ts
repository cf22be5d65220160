import { expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { book, bookAnd, NO_REFERENCE, NO_SHIPMENT } from "../../support/bookings.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();

/** Returns the calls of a new workspace with a courier. */
async function newWorkspace() {
  const { apiKey } = await service.addWorkspace();
  const as = service.as(apiKey);
  const ada = (await data(as.createCourier({ name: "Ada" }))).id as string;
  const newPaid = async () => (await bookAnd(service, apiKey, ["pay"]))["reference"] as string;
  const listed = async (filters: object) =>
    (await data(as.listShipments(filters))).map(({ reference }: { reference: string }) => reference);
  return { apiKey, as, ada, newPaid, listed };
}

const assigned = (shipment: string, etag: string) => ({
  shipment,
  status: "awaiting_pickup",
  payment_status: "paid",
  etag,
  error: null,
});

function refused(shipment: string, code: string, message: string, field?: string) {
  const error = { code, message, errors: field === undefined ? [] : [{ field, text: message }] };
  return { shipment, status: null, payment_status: null, etag: null, error };
}

const STALE = "etag is stale because the shipment was changed. Read it again.";

test("assigns a courier to shipments in order, each with an event, and unassigns the courier again", async () => {
  const { apiKey, as, ada, newPaid } = await newWorkspace();
  const [first, second] = [await newPaid(), await newPaid()];
  const { reference: pending } = await book(service, apiKey);
  const shipments = [
    { shipment: first, sequence: 2 },
    { shipment: second },
    { shipment: pending },
    { shipment: NO_REFERENCE },
  ];
  const { body } = await as.assignCourier({ courier: ada, shipments });
  const unpaid = "The shipment cannot be given a courier because it is pending.";
  expect(body).toEqual({
    results: [
      assigned(first, "3"),
      assigned(second, "3"),
      refused(pending, "SHIPMENT_STATE", unpaid, "shipment"),
      refused(NO_REFERENCE, "SHIPMENT_NOT_FOUND", NO_SHIPMENT.message),
    ],
  });
  const courier = { name: "Ada", phone: null, vehicle: null, external_id: null, courier_id: ada };
  expect((await data(as.getShipment({ shipment: first }))).courier).toEqual({ ...courier, sequence: 2 });
  expect((await data(as.getShipment({ shipment: second }))).courier).toEqual({ ...courier, sequence: null });

  const removed = await as.batchRemoveCouriers({ shipments: [first, pending] });
  expect(removed.body).toEqual({
    results: [assigned(first, "4"), refused(pending, "SHIPMENT_STATE", unpaid, "shipment")],
  });
  expect((await data(as.getShipment({ shipment: first }))).courier).toBe(null);
  const events = await data(as.listShipmentEvents({ shipment: first }));
  expect(events.slice(3).map(({ type }: { type: string }) => type)).toEqual([
    "shipment.courier_assigned",
    "shipment.courier_assigned",
  ]);
});

test("a courier who is archived, missing or belongs to another workspace cannot be assigned", async () => {
  const { as, ada, newPaid } = await newWorkspace();
  const other = await newWorkspace();
  const shipment = await newPaid();
  await data(as.archiveCourier({ courier: ada }));
  const none = "Courier not found, or the courier is archived.";
  for (const courier of [ada, other.ada, "cou_0"]) {
    const { body } = await as.assignCourier({ courier, shipments: [{ shipment }] });
    expect(body).toEqual({ results: [refused(shipment, "COURIER_NOT_FOUND", none)] });
  }
  expect((await data(as.getShipment({ shipment }))).courier).toBe(null);
});

test("rejects one of two concurrent assignments with the same etag", async () => {
  const { as, ada, newPaid } = await newWorkspace();
  const grace = (await data(as.createCourier({ name: "Grace" }))).id;
  const shipment = await newPaid();
  const both = await Promise.all(
    [ada, grace].map((courier) => as.assignCourier({ courier, shipments: [{ shipment, etag: "2" }] })),
  );
  const results = both.map(({ body }) => body.results[0]);
  const winner = results.findIndex(({ error }) => error === null);
  expect(results[winner]).toEqual(assigned(shipment, "3"));
  expect(results[1 - winner]).toEqual(refused(shipment, "ETAG_STALE", STALE, "etag"));
  expect((await data(as.getShipment({ shipment }))).courier.courier_id).toBe([ada, grace][winner]);
});

test("a batch repeated with its idempotency key is assigned once", async () => {
  const { as, ada, newPaid } = await newWorkspace();
  const [shipment, other] = [await newPaid(), await newPaid()];
  const key = { "idempotency-key": crypto.randomUUID() };
  const request = { courier: ada, shipments: [{ shipment, etag: "2" }] };
  const first = await as.assignCourier(request, key);
  expect((await as.assignCourier(request, key)).body).toEqual(first.body);
  const others = { courier: ada, shipments: [{ shipment: other }] };
  await expectRefused(as.assignCourier(others, key), "IDEMPOTENCY_KEY_REUSED");
});

test("lists, counts and exports shipments by courier and without a courier", async () => {
  const { apiKey, as, ada, newPaid, listed } = await newWorkspace();
  const [done, carried, details, free] = [await newPaid(), await newPaid(), await newPaid(), await newPaid()];
  await book(service, apiKey);
  await as.assignCourier({ courier: ada, shipments: [{ shipment: done }, { shipment: carried }] });
  await data(as.setCourier({ shipment: details, name: "Ada" }));
  for (let i = 0; i < 2; i++) await data(as.advanceShipment({ shipment: done }));
  const of = { courier_id: ada };
  expect(await listed(of)).toEqual([carried, done]);
  expect(await listed({ ...of, order_by: "created_at" })).toEqual([done, carried]);
  expect(await listed({ ...of, status: "delivered" })).toEqual([done]);
  expect(await listed({ ...of, failed: "true" })).toEqual([]);
  expect(await listed({ courier_id: "cou_0" })).toEqual([]);
  expect(await listed({ unassigned: "true" })).toEqual([free]);
  expect(await listed({ unassigned: "true", status: "in_transit" })).toEqual([]);
  const countOf = async (filters: object) => (await data(as.countShipments(filters))).listed.count;
  expect([await countOf(of), await countOf({ unassigned: "true" })]).toEqual([2, 1]);
  const both = "unassigned finds shipments without a courier. Omit courier_id.";
  await expectRefused(as.listShipments({ ...of, unassigned: "true" }), "FIELD_INVALID", { unassigned: both });
  const { text } = await service.request(`/v1/shipments/export?courier_id=${ada}`, { apiKey });
  expect(
    text
      .split("\n")
      .slice(1, -1)
      .map((line) => line.slice(0, 16)),
  ).toEqual([carried, done]);
});
