import { expect, test } from "vitest";
import { BOOKING, COVERED_ROUTE } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { EVERY_DAY, scheduleOf } from "../../support/schedules.ts";
import { HURRIED, startReplica, startService } from "../../support/service.ts";
import { worldTariff } from "../../support/tariffs.ts";

const CAPACITY = 3;
const hours = [{ days: EVERY_DAY, opens: "00:00", closes: "06:00" }];
const tariff = worldTariff({
  schedules: [scheduleOf({ hours, slot_minutes: 60, horizon_days: 366, capacity: CAPACITY })],
  default_schedule: "day",
});

const lastOfOctober = new Temporal.PlainDate(new Date().getUTCFullYear() + 1, 10, 31);
/** Next year's day on which the clock is set back in Berlin: the last Sunday of October. */
const SUNDAY = lastOfOctober.subtract({ days: lastOfOctober.dayOfWeek % 7 });
const now = new Date(`${SUNDAY.subtract({ days: 1 }).toString()}T09:00Z`);
const options = { now: () => now, outside: HURRIED };
const service = await startService({ tariff, ...options });
const replicas = [service, ...(await Promise.all([1, 2].map(() => startReplica(service.databaseUrl, options))))];
const workspaces = await Promise.all([1, 2].map(() => service.addWorkspace()));
const sql = await connectTo(service.databaseUrl);
// A counter above the capacity fails its transaction.
await sql.query(`alter table slot add constraint never_above_capacity check (shipments <= ${CAPACITY})`);

const windowAt = (hour: number, day = SUNDAY.add({ days: 1 })) => ({
  start: `${day.toString()}T0${hour}:00:00.000Z`,
  end: `${day.toString()}T0${hour + 1}:00:00.000Z`,
});
const callerOf = (i: number) => replicas[i % replicas.length]!.as(workspaces[i % workspaces.length]!.apiKey);

/** Asserts that each counter equals its reservations and the shipments with a place in the slot. */
async function expectExact() {
  // Citus joins a distributed table with a local one only as a common table expression.
  const wrong = `
    with booked as materialized (
      select windows #>> '{pickup,slot}' as schedule, (windows #>> '{pickup,start}')::timestamptz as starts_at
      from shipment where status <> 'cancelled'
    )
    select slot.id, slot.shipments from slot where
      shipments <> (select count(*) from slot_reservation where slot_id = slot.id)
      or shipments <> (
        select count(*) from booked where booked.schedule = slot.schedule and booked.starts_at = slot.starts_at)`;
  expect((await sql.query(wrong)).rows).toEqual([]);
}

test("concurrent bookings on several replicas fill a slot exactly", async () => {
  const calls = Array.from({ length: 24 }, (_, i) =>
    callerOf(i).createShipment({ ...BOOKING, pickup_window: windowAt(0) }),
  );
  const codes = (await Promise.all(calls)).map(({ code }) => code);
  expect(codes.filter((code) => code === undefined)).toHaveLength(CAPACITY);
  expect(new Set(codes)).toEqual(new Set([undefined, "SLOT_FULL"]));
  await expectExact();
});

test("bookings, moves and cancellations that race keep every counter exact", async () => {
  const clients = Array.from({ length: 18 }, async (_, i) => {
    const codes: (string | undefined)[] = [];
    for (let round = 0; round < 2; round++) {
      const caller = callerOf(i);
      const pickup_window = windowAt(1 + ((i + round) % 3));
      const { code, body } = await caller.createShipment({ ...BOOKING, pickup_window });
      codes.push(code);
      if (code !== undefined) continue;
      const shipment = body.data.reference;
      // The same shipment is moved, moved back and cancelled at the same time.
      const changes = await Promise.all([
        caller.updateShipment({ shipment, pickup_window: windowAt(1 + ((i + 1) % 3)) }),
        callerOf(i + 2).updateShipment({ shipment, pickup_window }),
        i % 2 === 0 && caller.cancelShipment({ shipment }),
      ]);
      codes.push(...changes.map((answer) => (answer ? answer.code : undefined)));
    }
    return codes;
  });
  const codes = new Set((await Promise.all(clients)).flat());
  expect(codes.difference(new Set([undefined, "SLOT_FULL", "SHIPMENT_STATE"]))).toEqual(new Set());
  // Refused changes leave reservations that are compared with their shipments later.
  await sql.query("update slot_reservation set check_at = now() where check_at is not null");
  const unconfirmed = "select from slot_reservation where check_at is not null";
  await eventually("all places to be confirmed", async () => (await sql.query(unconfirmed)).rowCount === 0);
  await expectExact();
});

test("a slot in a repeated hour is two slots", async () => {
  const caller = callerOf(0);
  const day = SUNDAY.toString();
  const book = (hour: number) => caller.createShipment({ ...BOOKING, pickup_window: windowAt(hour, SUNDAY) });
  for (let i = 0; i < CAPACITY; i++) expect((await book(0)).code).toBeUndefined();
  expect((await book(0)).code).toBe("SLOT_FULL");
  expect((await book(1)).code).toBeUndefined();
  const { body } = await caller.listPickupSlots({ ...COVERED_ROUTE, from_date: day, days: 1 });
  expect(body.data.slice(2, 4)).toMatchObject([
    { local_start: `${day}T02:00:00+02:00`, available: false, unavailable_reason: "full", remaining: 0 },
    { local_start: `${day}T02:00:00+01:00`, available: true, remaining: CAPACITY - 1 },
  ]);
  await expectExact();
});
