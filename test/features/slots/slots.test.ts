import { expect, test } from "vitest";
import { NO_PAYMENT_DETAILS } from "../../../src/domain/shipment/payment-details.ts";
import { data, expectRefused } from "../../support/answers.ts";
import { book, BOOKING, COVERED_ROUTE } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { queriesOf } from "../../support/query-log.ts";
import { scheduleOf } from "../../support/schedules.ts";
import { HURRIED, startService } from "../../support/service.ts";
import { square, worldTariff, zonesOf } from "../../support/tariffs.ts";

const LIMITED = { slot_minutes: 60, horizon_days: 366, pay_within_minutes: 30 };

/** North of Berlin, where slots are limited to ten kilograms. */
const NORTH = { pickup_lat: 65, dropoff_lat: 65 };
/** South of Cape Horn, where slots are unlimited but counted. */
const SOUTH = { pickup_lat: -65, dropoff_lat: -65 };
const zones = zonesOf(square(-180, -60, 180, 60), square(-180, 60, 180, 90), square(-180, -90, 180, -60)) as {
  features: { properties: object }[];
};
zones.features[1]!.properties = { name: "North", schedule: "north" };
zones.features[2]!.properties = { name: "South", schedule: "south" };

/** Next year, so that `now` is later than the database's clock. */
const YEAR = new Date().getUTCFullYear() + 1;

/** Slots of one shipment from 08:00 in Berlin, and of three on December 24. */
const tariff = worldTariff({
  base_fee: "5.00",
  zones,
  schedules: [
    scheduleOf({
      ...LIMITED,
      capacity: 1,
      exceptions: [{ date: `${YEAR}-12-24`, capacity: 3, hours: [{ opens: "08:00", closes: "10:00" }] }],
    }),
    scheduleOf({ ...LIMITED, name: "north", capacity: 10, capacity_unit: "kilograms", pay_within_minutes: 20 }),
    scheduleOf({ ...LIMITED, name: "south", attention_above: 2 }),
    scheduleOf({ ...LIMITED, name: "Su\u0308d ", capacity: 2 }),
  ],
  default_schedule: "day",
});

let now = new Date(`${YEAR}-12-01T09:00Z`);
const filled: object[] = [];
const service = await startService({
  tariff,
  now: () => now,
  outside: HURRIED,
  logged: ({ msg, schedule, start }) => msg === "slot full" && filled.push({ schedule, start }),
});
const sql = await connectTo(service.databaseUrl);
const { apiKey, twin } = await service.addWorkspace();
const kilograms = await service.addWorkspace();
const caller = service.as(apiKey);

const slot = (date: string, hour: string) => ({
  start: `${YEAR}-12-${date}T${hour}:00:00.000Z`,
  end: `${YEAR}-12-${date}T${String(Number(hour) + 1).padStart(2, "0")}:00:00.000Z`,
});
const booked = (window: object | undefined, fields: object = {}) =>
  book(service, apiKey, { ...BOOKING, pickup_window: window, ...fields });
const listed = async (date: string, key = apiKey, weight_kg = 2.5) =>
  (await service.as(key).listPickupSlots({ ...COVERED_ROUTE, weight_kg, from_date: `${YEAR}-12-${date}`, days: 1 }))
    .body;
const remaining = async (...of: Parameters<typeof listed>) =>
  (await listed(...of)).data.map((each: any) => each.unavailable_reason ?? each.remaining ?? "many");
/** Asserts that a call is refused because a slot is full, with the next free slot. */
async function expectFull(
  call: Parameters<typeof expectRefused>[0],
  next: { start: string; end: string },
  end = "pickup",
) {
  const prefix = end === "pickup" ? "" : `${end}_`;
  const text = `${end}_window is full. The next available window is ${next.start} to ${next.end}.`;
  await expectRefused(
    call,
    "SLOT_FULL",
    { [`${end}_window`]: text },
    { [`${prefix}next_available`]: next.start, [`${prefix}next_available_end`]: next.end },
  );
}

/** Counters that differ from the reservations. */
const WRONG = `
  select id from slot
  left join (
    select slot_id, count(*) as shipments, sum(milligrams) as milligrams from slot_reservation group by slot_id
  ) as reserved on slot_id = id
  where slot.shipments <> coalesce(reserved.shipments, 0) or slot.milligrams <> coalesce(reserved.milligrams, 0)`;
const expectCounted = async () => expect((await sql.query(WRONG)).rows).toEqual([]);

test("a slot takes as many shipments as its capacity, and a refusal names the next free slot", async () => {
  const first = { available: true, limited: true, remaining: 1, unavailable_reason: null };
  expect(await listed("02")).toMatchObject({ capacity_unit: "shipments", data: [first, ...Array(9).fill({})] });
  const shipment = await booked(slot("02", "07"));
  await booked(slot("02", "08"));
  expect(await remaining("02")).toEqual(["full", "full", 1, 1, 1, 1, 1, 1, 1, 1]);
  await expectFull(caller.createShipment({ ...BOOKING, pickup_window: slot("02", "07") }), slot("02", "09"));
  // A test twin has its own counters.
  expect(await remaining("02", twin.apiKey)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);

  await data(
    caller
      .batchCancelShipments({ shipments: [shipment.reference], reason: "other" })
      .then((it) => ({ ...it, body: { data: it.body } })),
  );
  expect(await remaining("02")).toEqual([1, "full", 1, 1, 1, 1, 1, 1, 1, 1]);
  await expectCounted();
});

test("a shipment that moves to another slot frees its place for another shipment", async () => {
  const { reference: shipment } = await booked(slot("03", "07"));
  await booked(slot("03", "08"));
  await expectFull(caller.updateShipment({ shipment, pickup_window: slot("03", "08") }), slot("03", "09"));
  expect(await remaining("03")).toEqual(["full", "full", 1, 1, 1, 1, 1, 1, 1, 1]);
  await data(caller.updateShipment({ shipment, pickup_window: slot("03", "09"), dropoff_window: slot("03", "09") }));
  expect(await remaining("03")).toEqual([1, "full", "full", 1, 1, 1, 1, 1, 1, 1]);
  await data(caller.updateShipment({ shipment, clear: ["pickup_window", "dropoff_window"] }));
  expect(await remaining("03")).toEqual([1, "full", 1, 1, 1, 1, 1, 1, 1, 1]);
  await expectCounted();
});

test("a booking that is refused because one of its slots is full takes no place in the other slot", async () => {
  await booked(slot("04", "08"));
  const windows = { pickup_window: slot("04", "07"), dropoff_window: slot("04", "08") };
  await expectFull(caller.createShipment({ ...BOOKING, ...windows }), slot("04", "09"), "dropoff");
  expect(await remaining("04")).toEqual([1, "full", 1, 1, 1, 1, 1, 1, 1, 1]);
  await expectCounted();
});

test("a slot limited in kilograms takes shipments up to that total weight", async () => {
  expect((await listed("01", apiKey)).capacity_unit).toBe("shipments");
  const heavy = service.as(kilograms.apiKey);
  const of = (weight_kg: number) => ({ ...BOOKING, ...NORTH, weight_kg, pickup_window: slot("02", "07") });
  const { reference: shipment } = await book(service, kilograms.apiKey, of(2.5));
  const left = async (weight: number) =>
    (
      await heavy.listPickupSlots({
        ...COVERED_ROUTE,
        ...NORTH,
        weight_kg: weight,
        from_date: `${YEAR}-12-02`,
        days: 1,
      })
    ).body;
  const { capacity_unit, data: slots } = await left(7.5);
  expect(capacity_unit).toBe("kilograms");
  expect(slots.slice(0, 2)).toMatchObject([{ remaining: 7, available: true }, { remaining: 10 }]);
  expect((await left(7.6)).data[0]).toMatchObject({ remaining: 7, available: false, unavailable_reason: "full" });
  await expectFull(heavy.createShipment(of(7.6)), slot("02", "08"));
  // No slot takes so much.
  const tooHeavy = { pickup_window: "pickup_window is full." };
  await expectRefused(heavy.updateShipment({ shipment, weight_kg: 10.1 }), "SLOT_FULL", tooHeavy);
  await data(heavy.updateShipment({ shipment, weight_kg: 10 }));
  expect((await left(1)).data[0]).toMatchObject({ remaining: 0 });
  await data(heavy.updateShipment({ shipment, weight_kg: 4 }));
  expect((await left(6)).data[0]).toMatchObject({ remaining: 6, available: true });
  await expectCounted();
});

test("a booking without a limited slot sends no statement about slots", async () => {
  const aboutSlots = async (fields: object) => {
    const sent = await queriesOf(service.app.em, () => booked(undefined, fields));
    // Background work polls reservations, confirms those of earlier bookings, and purges slots.
    const isOfQueue = (text: string) => /check_at <= now\(\)|update slot_reservation|starts_at < now/.test(text);
    return sent.filter(({ sql: text }) => /\bslot/.test(text) && !isOfQueue(text)).map(({ sql: text }) => text);
  };
  expect(await aboutSlots({})).toEqual([]);
  expect((await aboutSlots({ pickup_window: slot("10", "07") })).length).toBeGreaterThan(0);
});

test("an exception has its own capacity", async () => {
  expect(await remaining("24")).toEqual([3, 3]);
});

const ofSlot = (date: string, hour: string) => `live ${Date.parse(slot(date, hour).start)} %`;
const DUE = "update slot_reservation set check_at = now() where slot_id like $1";
const due = (date: string, hour: string) => sql.query(DUE, [ofSlot(date, hour)]);
const state = (date: string, hour: string) =>
  sql.query(
    `select reference, check_at is null or check_at > now() + interval '1 hour' as confirmed
     from slot_reservation where slot_id like $1`,
    [ofSlot(date, hour)],
  );

test("a reservation without a shipment is released, and one whose confirmation was lost is confirmed", async () => {
  const { reference } = await booked(slot("07", "07"));
  await booked(slot("07", "08"));
  await sql.query("update slot_reservation set reference = 'SHP-GONE', holder = 'SHP-GONE' where slot_id like $1", [
    ofSlot("07", "08"),
  ]);
  await Promise.all([due("07", "07"), due("07", "08")]);
  await eventually("the lost place to be freed", async () => (await remaining("07"))[1] === 1);
  await eventually("the reservation to be confirmed", async () => (await state("07", "07")).rows[0].confirmed);
  expect((await state("07", "07")).rows).toEqual([{ reference, confirmed: true }]);
  expect((await remaining("07"))[0]).toBe("full");
  await expectCounted();
});

test("a shipment that is not paid in time is cancelled, and a paid one keeps its place", async () => {
  const [unpaid, paid] = [await booked(slot("08", "07")), await booked(slot("08", "08"))];
  await data(caller.recordPayment({ shipment: paid.reference, amount: paid.total, currency: "USD" }));
  await sql.query("update slot_reservation set pay_by = now() where reference in ($1, $2)", [
    unpaid.reference,
    paid.reference,
  ]);
  await Promise.all([due("08", "07"), due("08", "08")]);
  await eventually("the unpaid shipment to be cancelled", async () => (await remaining("08"))[0] === 1);
  expect(await data(caller.getShipment({ shipment: unpaid.reference }))).toMatchObject({
    status: "cancelled",
    cancel_reason: "payment_problem",
    cancel_note: "Not paid in time.",
  });
  await eventually(
    "the reservation of the paid shipment to be confirmed",
    async () => (await state("08", "08")).rows[0].confirmed,
  );
  expect((await remaining("08"))[1]).toBe("full");
  await expectCounted();
});

test("a shipment that is moved after its time to pay is cancelled once its payment fails", async () => {
  const { reference: shipment } = await booked(slot("15", "07"));
  const write = (column: string, value: unknown, table = "slot_reservation") =>
    sql.query(`update ${table} set ${column} = $2 where reference = $1`, [shipment, value]);
  await write("payment_details", { ...NO_PAYMENT_DETAILS, processing: true }, "shipment");
  await write("pay_by", new Date(0));
  await data(caller.updateShipment({ shipment, pickup_window: slot("15", "08") }));
  await write("payment_details", NO_PAYMENT_DETAILS, "shipment");
  const dueAgain = "update slot_reservation set check_at = now() where reference = $1 and check_at is not null";
  expect((await sql.query(dueAgain, [shipment])).rowCount).toBe(1);
  await eventually("the unpaid shipment is cancelled", async () => {
    await sql.query(dueAgain, [shipment]);
    return (await remaining("15"))[1] === 1;
  });
  await expectCounted();
});

test("the earliest time to pay of a shipment's slots applies", async () => {
  const { reference } = await booked(slot("16", "07"), { dropoff_lat: 65, dropoff_window: slot("16", "08") });
  const { rows } = await sql.query("select pay_by from slot_reservation where reference = $1 order by slot_id", [
    reference,
  ]);
  const inMinutes = (minutes: number) => ({ pay_by: new Date(now.getTime() + minutes * 60_000) });
  expect(rows).toEqual([inMinutes(30), inMinutes(20)]);
});

test("operators see the occupied places of slots, and can change a slot's capacity or close it at once", async () => {
  const { key } = await service.addOperator("operator");
  const operator = service.as(key);
  const inSlot = { schedule: "day", start: slot("09", "07").start };
  const set = (capacity?: number) => data(operator.setSlotCapacity({ ...inSlot, capacity }));
  const book = () => caller.createShipment({ ...BOOKING, pickup_window: slot("09", "07") });
  const places = { ...slot("09", "07"), unit: "shipments", held: 0 };

  expect(await set(2)).toEqual({ ...places, capacity: 2, set_capacity: 2, booked: 0, remaining: 2 });
  expect((await book()).code).toBeUndefined();
  expect((await book()).code).toBeUndefined();
  await expectFull(book(), slot("09", "08"));
  expect(await set(0)).toEqual({ ...places, capacity: 0, set_capacity: 0, booked: 2, remaining: 0 });
  const listed = await data(operator.listSlots({ schedule: "day", days: 9 }));
  expect(listed.find((it: any) => it.start === inSlot.start)).toEqual(await set(0));
  await set(3);
  expect(await remaining("09")).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
  // Without a set capacity, the tariff's capacity applies.
  expect(await set()).toEqual({ ...places, capacity: 1, set_capacity: null, booked: 2, remaining: 0 });
  expect((await remaining("09"))[0]).toBe("full");

  const { body } = await operator.listAuditEntries({ action: "SetSlotCapacity" });
  expect(body.data.at(-1)).toMatchObject({
    subject: `slot/${inSlot.start} day`,
    changes: [{ field: "capacity", before: null, after: "2" }],
  });
  for (const unknown of [{ schedule: "night" }, { start: slot("09", "05").start }]) {
    expect((await operator.setSlotCapacity({ ...inSlot, ...unknown, capacity: 1 })).code).toBe("SLOT_NOT_FOUND");
  }
});

test("an unlimited slot that is counted can be limited by an operator", async () => {
  const operator = service.as((await service.addOperator("operator")).key);
  const inSlot = { schedule: "south", start: slot("02", "07").start };
  const read = async () => (await data(operator.listSlots({ schedule: "south" })))[10];
  const offered = async () =>
    (await caller.listPickupSlots({ ...COVERED_ROUTE, ...SOUTH, from_date: `${YEAR}-12-02`, days: 1 })).body.data[0];
  const booking = { ...BOOKING, ...SOUTH, pickup_window: slot("02", "07") };
  await book(service, apiKey, booking);
  const places = { ...slot("02", "07"), unit: "shipments", capacity: null, set_capacity: null, remaining: null };
  expect(await read()).toEqual({ ...places, booked: 1, held: 0 });
  expect(await offered()).toMatchObject({ available: true, limited: false, remaining: null });
  await operator.setSlotCapacity({ ...inSlot, capacity: 1 });
  expect(await offered()).toMatchObject({ available: false, limited: true, remaining: 0 });
  await expectFull(caller.createShipment(booking), slot("02", "08"));
  await operator.setSlotCapacity(inSlot);
  await book(service, apiKey, booking);
  const hurried = async () =>
    (await sql.query("select from slot_reservation where slot_id like '% south' and pay_by is not null")).rowCount;
  // A shipment in an unlimited slot may stay unpaid.
  expect(await hurried()).toBe(0);
  await operator.setSlotCapacity({ ...inSlot, capacity: 3 });
  await book(service, apiKey, booking);
  expect(await hurried()).toBe(1);
  await expectCounted();
});

const quoted = async (window: object | undefined, fields: object = {}) =>
  (await caller.createQuote({ ...COVERED_ROUTE, pickup_window: window, ...fields })).body;
const hold = (quote_id: string, by = caller) => by.holdSlot({ quote_id });

test("a held slot is kept for the booking with its quote", async () => {
  const other = service.as(kilograms.apiKey);
  const { key } = await service.addOperator("viewer");
  const counted = async () => {
    const { start } = slot("05", "07");
    const { booked, held } = (await data(service.as(key).listSlots({ schedule: "day" }))).find(
      (each: any) => each.start === start,
    );
    return { booked, held };
  };
  const { id, expires_at } = await quoted(slot("05", "07"), { dropoff_window: slot("05", "09") });
  const held = {
    quote_id: id,
    held_until: expires_at,
    pickup_window: { ...slot("05", "07"), time_zone: "Europe/Berlin" },
    dropoff_window: { ...slot("05", "09"), time_zone: "Europe/Berlin" },
  };
  expect((await hold(id)).body).toEqual(held);
  expect((await hold(id)).body).toEqual(held);
  expect(await counted()).toEqual({ booked: 0, held: 1 });
  await expectFull(other.createShipment({ ...BOOKING, pickup_window: slot("05", "07") }), slot("05", "08"));
  const late = await quoted(slot("05", "07"));
  await expectFull(hold(late.id), slot("05", "08"));

  const { reference: shipment } = await booked(undefined, { quote_id: id });
  await eventually("the booking to be confirmed", async () => (await counted()).booked === 1);
  expect(await counted()).toEqual({ booked: 1, held: 0 });
  await expectCounted();
  const used = { quote_id: `quote_id was already booked as the shipment ${shipment}.` };
  await expectRefused(hold(id), "QUOTE_USED", used, { shipment });
});

test("metrics count places in live mode by outcome, and how often slots become full", async () => {
  const counts = async () => {
    const { text } = await service.request("/metrics");
    const found = text.matchAll(/^shipments_slots?_(?:places|filled)_total(?:\{outcome="(\w+)"\})? (\d+)$/gm);
    return Object.fromEntries([...found].map(([, outcome = "filled", count]) => [outcome, Number(count)]));
  };
  const before = await counts();
  filled.length = 0;
  const pickup_window = slot("11", "07");
  const { reference: shipment } = await booked(pickup_window);
  for (let i = 0; i < 2; i++) await expectFull(caller.createShipment({ ...BOOKING, pickup_window }), slot("11", "08"));
  await data(caller.updateShipment({ shipment, weight_kg: 3 }));
  await data(caller.cancelShipment({ shipment }));
  await booked(pickup_window);
  const { id } = await quoted(slot("11", "09"));
  await hold(id);
  await booked(undefined, { quote_id: id });
  const heavy = (weight_kg: number) =>
    book(service, apiKey, { ...BOOKING, ...NORTH, weight_kg, pickup_window: slot("11", "07") });
  for (const weight of [9, 0.5, 0.4]) await heavy(weight);
  await book(service, twin.apiKey, { ...BOOKING, pickup_window });
  const after = await counts();
  expect(Object.keys(after).map((outcome) => [outcome, after[outcome]! - before[outcome]!])).toEqual([
    ["booked", 6],
    ["held", 1],
    ["refused", 2],
    ["filled", 4],
  ]);
  const { start } = pickup_window;
  const day = { schedule: "day", start };
  expect(filled).toEqual([day, day, { schedule: "day", start: slot("11", "09").start }, { schedule: "north", start }]);
});

test("a refused change restores the places of the shipment at once", async () => {
  const heavy = service.as(kilograms.apiKey);
  const [first, other, last] = [slot("11", "08"), slot("11", "09"), slot("11", "10")];
  const add = (weight_kg: number, pickup_window: object, dropoff_window?: object) =>
    book(service, kilograms.apiKey, { ...BOOKING, ...NORTH, weight_kg, pickup_window, dropoff_window });
  await add(9, other);
  await add(7, last);
  const { reference: shipment } = await add(2, first, last);
  const places = async () => {
    const found = `select milligrams::float8 / 1000000 as kg, check_at > now() + interval '10 minutes' as confirmed
      from slot_reservation where reference = $1 order by slot_id`;
    return (await sql.query(found, [shipment])).rows;
  };
  const confirmed = { kg: 2, confirmed: true };
  await eventually("the booking to be confirmed", async () => (await places()).every((it) => it.confirmed));
  expect((await heavy.updateShipment({ shipment, pickup_window: other })).code).toBe("SLOT_FULL");
  expect(await places()).toEqual([confirmed, confirmed]);
  // Only the pickup's slot has room for the new weight.
  expect((await heavy.updateShipment({ shipment, weight_kg: 5 })).code).toBe("SLOT_FULL");
  expect(await places()).toEqual([{ kg: 2, confirmed: false }, confirmed]);
  await expectCounted();
});

test("test mode fills the slots of a call on request, until its data is deleted", async () => {
  const call = async (path: string, fields: object) =>
    service.request(path, { apiKey: twin.apiKey, body: fields, headers: { simulate: "slot_full" } });
  const fills = async (path: string, fields: object) => {
    const { code, headers } = await call(path, fields);
    expect([code, headers.get("simulated")]).toEqual(["SLOT_FULL", "slot_full"]);
  };
  await fills("/v1/shipments", { ...BOOKING, pickup_window: slot("12", "07") });
  const test = service.as(twin.apiKey);
  const { id } = (await test.createQuote({ ...COVERED_ROUTE, pickup_window: slot("12", "09") })).body;
  await fills("/v1/quotes/hold", { quote_id: id });
  expect(await remaining("12", twin.apiKey)).toEqual(["full", 1, "full", 1, 1, 1, 1, 1, 1, 1]);
  expect(await remaining("12")).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
  expect((await call("/v1/shipments", BOOKING)).status).toBe(201);
  await data(test.deleteTestData());
  expect(await remaining("12", twin.apiKey)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
});

test("a failed booking keeps the hold of its quote, and an expired hold frees the slot once", async () => {
  const { id } = await quoted(slot("06", "07"));
  await hold(id);
  const heldRows = async () =>
    (
      await sql.query(
        `select reference, check_at > now() + interval '10 minutes' as held from slot_reservation where holder = $1`,
        [id],
      )
    ).rows;
  await sql.query("alter table shipment add constraint no_failure check (pickup_address <> 'Nowhere') not valid");
  const failed = await caller.createShipment({ ...BOOKING, pickup_address: "Nowhere", quote_id: id });
  expect(failed.code).toBe("INTERNAL");
  expect(await heldRows()).toEqual([{ reference: null, held: true }]);
  expect((await remaining("06"))[0]).toBe("full");

  await due("06", "07");
  await eventually("the slot to be freed", async () => (await remaining("06"))[0] === 1);
  await due("06", "07");
  expect(await heldRows()).toEqual([]);
  await expectCounted();
  await booked(undefined, { quote_id: id });
});

test("a schedule is found by its name as requests normalize it", async () => {
  const operator = service.as((await service.addOperator("operator")).key);
  const inSlot = { schedule: "Su\u0308d ", start: slot("09", "07").start };
  await data(operator.setSlotCapacity({ ...inSlot, capacity: 1 }));
  const [first] = (await sql.query("select schedule, capacity from slot where schedule like 'S%'")).rows;
  expect(first).toEqual({ schedule: inSlot.schedule, capacity: 1 });
  const listed = await data(operator.listSlots({ schedule: "S\u00fcd", days: 9 }));
  expect(listed.find((it: any) => it.start === inSlot.start)).toMatchObject({ capacity: 1, set_capacity: 1 });
});

test("the weights of a slot add up without binary error", async () => {
  const heavy = service.as(kilograms.apiKey);
  const of = (weight_kg: number) => ({ ...COVERED_ROUTE, ...NORTH, weight_kg, pickup_window: slot("06", "07") });
  await book(service, kilograms.apiKey, { ...BOOKING, ...of(0.2) });
  await hold((await heavy.createQuote(of(0.1))).body.id, heavy);
  const operator = service.as((await service.addOperator("viewer")).key);
  const places = await data(operator.listSlots({ schedule: "north" }));
  expect(places.find((it: any) => it.start === slot("06", "07").start)).toMatchObject({
    booked: 0.2,
    held: 0.1,
    remaining: 9.7,
  });
});

test("only unused quotes of the workspace that are valid hold limited slots", async () => {
  const { id } = await quoted(undefined);
  expect((await hold(id)).body).toEqual({
    quote_id: id,
    held_until: null,
    pickup_window: null,
    dropoff_window: null,
  });
  expect((await hold(id, service.as(kilograms.apiKey))).code).toBe("QUOTE_UNKNOWN");
  const before = now;
  now = new Date(now.getTime() + 900_000);
  expect((await hold(id)).code).toBe("QUOTE_EXPIRED");
  now = before;
});

test("a workspace holds slots for at most 50 quotes", async () => {
  const route = { ...COVERED_ROUTE, ...NORTH, weight_kg: 0.1, pickup_window: slot("05", "07") };
  const { body } = await caller.batchCreateQuotes({ routes: Array(53).fill(route) });
  const ids: string[] = body.results.map(({ quote }: any) => quote.id);
  const codes = await Promise.all(ids.map(async (id) => (await hold(id)).code));
  expect(new Set(codes)).toEqual(new Set([undefined, "HOLD_LIMIT"]));
  const held = ids.filter((_, i) => codes[i] === undefined);
  expect(held).toHaveLength(50);
  await expectRefused(hold(ids.find((id) => !held.includes(id))!), "HOLD_LIMIT");
  expect((await hold(held[0]!)).code).toBeUndefined();
  await expectCounted();
});
