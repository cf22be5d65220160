import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { expectRefused } from "../../support/answers.ts";
import { COVERED_ROUTE } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { insertDraft } from "../../support/insert-draft.ts";
import { insertCustomers, insertShipments } from "../../support/insert-shipments.ts";
import { naiveReplay, type ReplayedRow, type SquareTariff } from "../../support/naive-replay.ts";
import type { NaiveSchedule } from "../../support/naive-windows.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { EVERY_DAY } from "../../support/schedules.ts";
import { startService } from "../../support/service.ts";
import { SAMPLE_TARIFF, square, worldTariff, zonesOf } from "../../support/tariffs.ts";

const service = await startService();
const database = await connectTo(service.databaseUrl);
const { key: viewer } = await service.addOperator("viewer");
/** Two workspaces with one customer each. */
const workspaces: { readonly id: number; readonly apiKey: string; readonly customer: number }[] = [];
for (const { id, apiKey } of [await service.addWorkspace(), await service.addWorkspace()]) {
  const customer = await insertCustomers(database, id, 1);
  workspaces.push({ id, apiKey, customer });
}
beforeEach(async () => {
  await database.query("delete from shipment");
  await database.query("delete from tariff_draft");
});

/** Inserts shipments on the given route, alternately in both workspaces, the newest last. */
async function addShipments(count: number, route: readonly [string, string, string, string, string]): Promise<void> {
  for (const [i, { id, customer }] of workspaces.entries()) {
    await insertShipments(database, {
      workspace: id,
      count: Math.floor((count + 1 - i) / 2),
      customer: String(customer),
      createdAt: `now() - interval '1 day' + (2 * i + ${i}) * interval '1 second'`,
      salt: `${id} `,
      route,
    });
  }
}

async function newest(count: number): Promise<ReplayedRow[]> {
  const { rows } = await database.query<Omit<ReplayedRow, "pickup" | "dropoff">>(
    `select workspace_id::float8 as workspace, reference, pickup_lat, pickup_lng, dropoff_lat,
       dropoff_lng, weight_kg, (extract(epoch from created_at) * 1000)::float8 as "atMs"
     from shipment order by created_at desc limit $1`,
    [count],
  );
  return rows.map((row) => ({ ...row, pickup: undefined, dropoff: undefined }));
}

/** Adds windows to most of the shipments, from shortly before their booking to ten days after. */
async function addWindows(rows: readonly ReplayedRow[]): Promise<ReplayedRow[]> {
  const windowed: ReplayedRow[] = [];
  for (const [i, row] of rows.entries()) {
    const now = Math.floor(row.atMs / HALF_HOUR_MS);
    const startMs = (now - 4 + ((i * 37) % 480)) * HALF_HOUR_MS;
    const pickup = { startMs, endMs: startMs + (1 + (i % 3)) * HALF_HOUR_MS };
    const later = ((i % 9) - 1) * HALF_HOUR_MS;
    const dropoff = { startMs: startMs + later, endMs: pickup.endMs + later };
    const windows = {
      pickup: i % 4 === 0 ? undefined : pickup,
      dropoff: i % 3 === 0 ? dropoff : undefined,
    };
    const stored = [windows.pickup, windows.dropoff].map(
      (window) =>
        window && {
          start: new Date(window.startMs).toISOString(),
          end: new Date(window.endMs).toISOString(),
          timeZone: "UTC",
          feeMinor: 0,
        },
    );
    await database.query("update shipment set windows = $3 where workspace_id = $1 and reference = $2", [
      row.workspace,
      row.reference,
      stored.some((it) => it !== undefined) ? { pickup: stored[0] ?? null, dropoff: stored[1] ?? null } : null,
    ]);
    windowed.push({ ...row, ...windows });
  }
  return windowed;
}

const HALF_HOUR_MS = 1_800_000;
const HOUR_MS = 2 * HALF_HOUR_MS;

const replay = (draft: number, fields: object = {}) => service.as(viewer).replayTariff({ draft, ...fields });

const publish = async (document: unknown) => (await publishDocument(service.app.em, document)).version;

/** Returns a worldwide tariff that charges by weight only. */
function perKg(rate: string, changes: object = {}): object {
  const tiers = [{ min_kg: 0, max_kg: 1_000, flat_fee: "0", rate_per_kg: rate }];
  return worldTariff({ tiers, ...changes });
}

describe("a replay of shipments", () => {
  /** Routes within a square of 4 degrees, with weights from 0.5 to 9.5 kg. */
  const SCATTERED = [
    "(i * 37 % 41) / 10.0",
    "(i * 53 % 43) / 10.0",
    "(i * 71 % 37) / 10.0",
    "(i * 29 % 47) / 10.0",
    "(i % 19 + 1) / 2.0",
  ] as const;

  const decimal = (max: number, decimals: number) =>
    fc.nat(max * 10 ** decimals).map((units) => (units / 10 ** decimals).toFixed(decimals));
  const digitsOf = { USD: 2, JPY: 0, KWD: 3 };
  const anySquare = fc
    .tuple(fc.nat(40), fc.nat(40), fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 }))
    .map(([w, s, x, y]) => [w / 10, s / 10, (w + x) / 10, (s + y) / 10] as const);
  const someDays = fc.subarray(EVERY_DAY, { minLength: 3 });
  /** Realistic schedules, whose hours do not overlap those that continue from the previous day. */
  const scheduleIn = (name: string, digits: number): fc.Arbitrary<NaiveSchedule> => {
    const hours = (opens: string[], closes: string[]) =>
      fc.record({
        opens: fc.constantFrom(...opens),
        closes: fc.constantFrom(...closes),
        fee: decimal(3, digits),
      });
    const morning = hours(["05:00", "07:30"], ["11:00", "13:00"]);
    const evening = hours(["13:00", "16:00"], ["20:00", "00:00", "01:00"]);
    const onDays = (of: typeof morning) => fc.tuple(someDays, of).map(([days, each]) => ({ days, ...each }));
    return fc.record({
      name: fc.constant(name),
      time_zone: fc.constantFrom(
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "Africa/Casablanca",
        "Pacific/Apia",
      ),
      hours: fc.tuple(onDays(morning), onDays(evening)),
      exceptions: fc.subarray([0, 1, 2, 3, 4, 5]).chain((days) =>
        fc.tuple(
          ...days.map((day) =>
            fc.record({
              date: fc.constant(new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10)),
              hours: fc.oneof(fc.constant([]), fc.tuple(morning), fc.tuple(evening)),
            }),
          ),
        ),
      ),
      lead_time_minutes: fc.constantFrom(0, 45, 600),
      horizon_days: fc.integer({ min: 3, max: 12 }),
      slot_minutes: fc.constantFrom(null, null, 30, 60),
      cut_offs: fc.array(
        fc.record({
          days: someDays,
          from: fc.constantFrom("00:00", "09:00"),
          until: fc.constantFrom("12:00", "23:30"),
          days_before: fc.nat(2),
          at: fc.constantFrom("06:00", "17:30"),
        }),
        { maxLength: 2 },
      ),
      as_soon_as_possible: fc.boolean(),
    });
  };
  const tariffIn = (currency: SquareTariff["currency"]): fc.Arbitrary<SquareTariff> =>
    fc.record({
      currency: fc.constant(currency),
      base_fee: decimal(20, digitsOf[currency]),
      rate_per_km: decimal(1, 6),
      tiers: fc.uniqueArray(fc.integer({ min: 1, max: 10 }), { minLength: 1, maxLength: 4 }).chain((ends) =>
        fc.tuple(
          ...ends
            .toSorted((a, b) => a - b)
            .map((max_kg, i, sorted) =>
              fc.record({
                min_kg: fc.constant(sorted[i - 1] ?? 0),
                max_kg: fc.constant(max_kg),
                flat_fee: decimal(5, digitsOf[currency]),
                rate_per_kg: decimal(1, 6),
              }),
            ),
        ),
      ),
      squares: fc.array(anySquare, { minLength: 1, maxLength: 4 }),
      schedules: fc.tuple(...["a", "b"].map((name) => scheduleIn(name, digitsOf[currency]))),
      scheduleOfSquare: fc.array(fc.constantFrom("a", "b", undefined), {
        minLength: 4,
        maxLength: 4,
      }),
    });
  const anyCurrency = fc.constantFrom("USD", "JPY", "KWD");

  const documentOf = ({ squares, scheduleOfSquare, ...fees }: SquareTariff) => {
    const zones = zonesOf(...squares.map((bounds) => square(...bounds))) as {
      readonly features: readonly { readonly properties: object }[];
    };
    const features = zones.features.map((feature, i) => ({
      ...feature,
      properties: { ...feature.properties, schedule: scheduleOfSquare[i] },
    }));
    return { ...fees, zones: { ...zones, features } };
  };

  test("returns the same counts, totals, distribution and lists as pricing the shipments one by one", async () => {
    await addShipments(300, SCATTERED);
    const rows = await addWindows(await newest(250));
    const pair = anyCurrency.chain((currency) =>
      fc.tuple(tariffIn(currency), fc.oneof({ weight: 4, arbitrary: tariffIn(currency) }, anyCurrency.chain(tariffIn))),
    );
    await fc.assert(
      fc.asyncProperty(pair, async ([inForce, ofDraft]) => {
        // Publishing also creates a draft, and the number of drafts is limited to 50.
        await database.query("delete from tariff_draft");
        const version = await publish(documentOf(inForce));
        const draft = await insertDraft(database, documentOf(ofDraft));
        const { status, body } = await replay(draft, { shipments: 250 });
        expect(status).toBe(200);
        expect(body).toEqual({
          etag: `${draft}-1`,
          in_force: version,
          shipments: naiveReplay(inForce, ofDraft, rows),
          routes: [],
        });
      }),
      { numRuns: 6 },
    );
  });

  test("uses the last 1,000 shipments by default, and none on request", async () => {
    await addShipments(1_001, SCATTERED);
    await publish(perKg("1"));
    const draft = await insertDraft(database, perKg("2"));
    const counted = async (body: object) => (await replay(draft, body)).body.shipments.routes;
    expect(await counted({})).toBe(1_000);
    expect(await counted({ shipments: 7 })).toBe(7);
    expect(await counted({ shipments: 10_000 })).toBe(1_001);
    expect((await replay(draft, { shipments: 0 })).body.shipments).toEqual({
      routes: 0,
      served_by_both: 0,
      newly_covered: 0,
      newly_refused: 0,
      currency_in_force: "USD",
      currency_of_draft: "USD",
      total_in_force: 0,
      total_of_draft: 0,
      distribution: expect.arrayContaining([
        { above_percent: 0, up_to_percent: 0, routes: 0 },
        { above_percent: 50, up_to_percent: null, routes: 0 },
      ]),
      largest: [],
      refused: [],
      slot_full: 0,
    });
  });

  test("counts the shipments whose slot would have been full, without cancelled ones", async () => {
    await addShipments(7, ["1", "1", "1", "1", "2.5"]);
    await publish(perKg("1"));
    const start = Math.ceil((Date.now() + HOUR_MS) / HOUR_MS) * HOUR_MS;
    const slot = (startMs: number) => ({
      start: new Date(startMs).toISOString(),
      end: new Date(startMs + HOUR_MS).toISOString(),
    });
    // The oldest and the three newest shipments are in one slot. The others are in a later one.
    for (const [i, { workspace, reference }] of (await newest(7)).entries()) {
      const pickup = slot(i < 3 || i === 6 ? start : start + HOUR_MS);
      await database.query(
        `update shipment set windows = $3, status = $4, cancelled_at = case when $4 = 'cancelled' then created_at end,
           payment_status = case when $4 = 'cancelled' then 'voided' else payment_status end
         where workspace_id = $1 and reference = $2`,
        [workspace, reference, { pickup, dropoff: pickup }, i === 6 ? "cancelled" : "pending"],
      );
    }
    const hours = [{ days: EVERY_DAY, opens: "00:00", closes: "00:00" }];
    const schedule = { name: "day", time_zone: "UTC", hours, slot_minutes: 60, capacity: 2 };
    const fullWith = async (changes: object) => {
      const schedules = [{ ...schedule, ...changes }];
      const draft = await insertDraft(database, perKg("2", { schedules, default_schedule: "day" }));
      const { newly_covered, slot_full } = (await replay(draft)).body.shipments;
      return { newly_covered, slot_full };
    };
    expect(await fullWith({})).toEqual({ newly_covered: 7, slot_full: 2 });
    expect(await fullWith({ capacity: 7, capacity_unit: "kilograms" })).toEqual({ newly_covered: 7, slot_full: 2 });
    expect(await fullWith({ capacity: 3 })).toEqual({ newly_covered: 7, slot_full: 0 });
    expect(await fullWith({ capacity: null, attention_above: 1 })).toEqual({ newly_covered: 7, slot_full: 0 });
  });

  test("lists shipments that only the draft rejects, newest first, with the reason", async () => {
    await addShipments(2, ["1", "i", "1", "i", "2.5"]);
    await publish(perKg("1"));
    const zones = zonesOf(square(1.5, 0, 3, 3), square(10, 10, 11, 11));
    const draft = await insertDraft(database, perKg("2", { zones }));
    const [{ reference }, { reference: older }] = (await newest(2)) as [ReplayedRow, ReplayedRow];
    const refused = { total_in_force: 2.5, total_of_draft: null, failure_type: "coverage" };
    expect((await replay(draft)).body.shipments).toMatchObject({
      routes: 2,
      served_by_both: 0,
      newly_refused: 2,
      refused: [
        {
          workspace: workspaces[1]!.id,
          shipment: reference,
          ...refused,
          message: OUTSIDE,
        },
        { workspace: workspaces[0]!.id, shipment: older, ...refused, message: OUTSIDE },
      ],
    });
  });

  const OUTSIDE = "The pickup and dropoff points are outside the coverage zones, 56 km and 56 km from the nearest one.";

  test("compares with the version in force, not with a scheduled or cancelled one", async () => {
    await addShipments(1, SCATTERED);
    const inForce = await publish(perKg("1"));
    const scheduled = await publish(perKg("3"));
    const calledOff = await publish(perKg("4"));
    await database.query(
      "update tariff_version set effective_at = now() + interval '1 day' where version in ($1, $2)",
      [scheduled, calledOff],
    );
    await database.query("update tariff_version set called_off_at = now() where version = $1", [calledOff]);
    const draft = await insertDraft(database, perKg("2"));
    expect((await replay(draft)).body.in_force).toBe(inForce);
    await database.query("update tariff_version set effective_at = now(), called_off_at = null");
  });

  test("is rejected if no tariff is in force", async () => {
    const draft = await insertDraft(database, perKg("2"));
    await database.query("update tariff_version set called_off_at = now()");
    const refused = await replay(draft);
    await database.query("update tariff_version set called_off_at = null");
    await expectRefused(refused, "TARIFF_VERSION_NOT_FOUND", "No tariff is in force yet.");
  });
});

describe("a replay of routes", () => {
  const FAR = { ...COVERED_ROUTE, dropoff_lat: 10, dropoff_lng: 10 };

  const lat = fc.oneof(fc.constantFrom(-90, -0, 90), fc.double({ min: -90, max: 90, noNaN: true }));
  const lng = fc.oneof(fc.constantFrom(-180, 180), fc.double({ min: -180, max: 180, noNaN: true }));
  const anyRoute = fc.record({
    pickup_lat: lat,
    pickup_lng: lng,
    dropoff_lat: lat,
    dropoff_lng: lng,
    weight_kg: fc.double({ min: 0.01, max: 1_100, noNaN: true }),
  });

  test("returns the results that quotes with each tariff would return", async () => {
    await publish(SAMPLE_TARIFF);
    const next = perKg("2", { currency: "JPY", base_fee: "100" });
    const draft = await insertDraft(database, next);
    const some = [COVERED_ROUTE, FAR, { ...COVERED_ROUTE, weight_kg: 1_001 }];
    const routes = [...some, ...fc.sample(anyRoute, 97)];
    const { body } = await replay(draft, { routes, shipments: 0 });

    const quotes = async () => {
      const { body: quoted } = await service.as(workspaces[0]!.apiKey).batchQuoteShipments({ routes });
      return quoted.results.map(({ quote }: { quote: unknown }) => quote);
    };
    // Retries, because a replica may use the previous version for up to a second.
    const quotesOnce = (total: number) =>
      eventually(`a price of ${total}`, async () => {
        const found = await quotes();
        return found[0].total === total && found;
      });
    const inForce = await quotesOnce(12.69);
    await publish(next);
    const ofDraft = await quotesOnce(100);
    expect(body.routes).toEqual(inForce.map((it: object, i: number) => ({ in_force: it, draft: ofDraft[i] })));
    const covered = body.routes
      .slice(0, 3)
      .map((it: Record<"in_force" | "draft", any>) => [it.in_force.covered, it.draft.covered]);
    expect(covered).toEqual([
      [true, true],
      [false, true],
      [false, false],
    ]);
  });

  test("validates each route like a quote, and their number", async () => {
    const draft = await insertDraft(database, perKg("2"));
    const bad = { ...COVERED_ROUTE, pickup_lat: 91, weight_kg: undefined };
    await expectRefused(replay(draft, { routes: [COVERED_ROUTE, bad] }), "FIELD_INVALID", {
      "routes[1].pickup_lat": "routes[1].pickup_lat must be greater than or equal to -90 and less than or equal to 90.",
      "routes[1].weight_kg": "routes[1].weight_kg is required.",
    });
    const many = Array.from({ length: 101 }, () => COVERED_ROUTE);
    for (const [fields, field] of [
      [{ routes: many }, "routes"],
      [{ shipments: 10_001 }, "shipments"],
      [{ shipments: -1 }, "shipments"],
    ] as const) {
      expect(Object.keys((await replay(draft, fields)).body.errors)).toEqual([field]);
    }
  });
});

const UNSTORABLE = JSON.stringify(zonesOf(square(0, 0, 1, 1))).replace('"Zone 1"', '"Z","x":"\\u0000"');

test.each([
  ["fees", perKg("0.0000001", { base_fee: "-1" }), ["base_fee", "tiers[0].rate_per_kg"]],
  ["geometry", perKg("1", { zones: zonesOf(square(0, 0, 0, 1)) }), ["zones[0].geometry"]],
  ["broken zones", perKg("1", { zones: '{"type":' }), ["zones"]],
  ["missing zones", perKg("1", { zones: undefined }), ["zones"]],
  ["unstorable text", perKg("1", { zones: UNSTORABLE }), ["zones.features[0].properties.x"]],
])("rejects a draft for its %s, with the same paths as a check", async (_, document, paths) => {
  const draft = await insertDraft(database, document);
  const { code, body } = await replay(draft);
  expect([code, Object.keys(body.errors)]).toEqual(["TARIFF_FAULTY", paths]);
  const { faults } = (await service.as(viewer).checkTariff({ draft })).body;
  expect(faults.map(({ path }: { path: string }) => path)).toEqual(paths);
});
