import { expect, test } from "vitest";
import { purgeTestData } from "../../../src/features/test-mode/delete-test-data.ts";
import { SCENARIOS, type Scenario } from "../../../src/domain/shipment/simulation.ts";
import { data, expectRefused } from "../../support/answers.ts";
import { BOOKING, book, takeStep } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { insertBooked } from "../../support/insert-booked.ts";
import { planOf, rowsTouched } from "../../support/plans.ts";
import { queriesOf } from "../../support/query-log.ts";
import { HURRIED, startReplica, startService } from "../../support/service.ts";
import type { LogLine } from "../../support/service-process.ts";

// In the future, because courier locations that are older than an hour by the database's clock are not returned.
const DAY = Temporal.Now.plainDateISO("UTC").add({ days: 1 }).toString();
const NEXT_DAY = Temporal.PlainDate.from(DAY).add({ days: 1 }).toString();
const REAL = `${DAY}T09:00:00.000Z`;
let real = Date.parse(REAL);
const now = () => new Date(real);
const logged: LogLine[] = [];
const service = await startService({
  now,
  outside: HURRIED,
  logged: (line) => void logged.push(line),
});
const sql = await connectTo(service.databaseUrl);

/** Creates a test twin, by default with a frozen clock. Also returns its calls. */
async function addTwin({ frozen = true } = {}) {
  const { twin } = await service.addWorkspace();
  const { apiKey, id } = twin;
  const caller = service.as(apiKey);
  const move = (time?: string) => caller.moveTestClock({ time });
  if (frozen) await move();
  return {
    id,
    apiKey,
    caller,
    move,
    step: (shipment: string, step: string) => caller.takeTestStep({ shipment, step }),
    bookFor: async (scenario: Scenario, step_seconds = 60): Promise<string> =>
      (await book(service, apiKey, simulated(scenario, step_seconds)))["reference"],
    statusOf: async (shipment: string): Promise<string> => (await data(caller.getShipment({ shipment }))).status,
  };
}

const simulated = (scenario: Scenario, step_seconds = 60) => ({
  simulation: { scenario, step_seconds },
});

/** Returns a shipment's events, each with the time of day and the resulting state. */
async function historyOf(apiKey: string, shipment: string): Promise<string[]> {
  const events = await data(service.as(apiKey).listShipmentEvents({ shipment }));
  return events.map(({ type, timestamp, data: it }: any) =>
    [timestamp.slice(11, 19), type, it.status, it.payment_status].join(" "),
  );
}

/** Returns a twin's stored simulations, sorted by reference. */
async function simulationsOf({ id }: { readonly id: number }) {
  const { rows } = await sql.query(
    `select shipment_reference as reference, next_try_at, tries from simulation
     where workspace_id = $1 order by reference`,
    [id],
  );
  return rows;
}

const PAID = [
  "09:00:00 shipment.created pending awaiting_payment",
  "09:01:00 shipment.paid awaiting_pickup paid",
  "09:01:00 shipment.awaiting_pickup awaiting_pickup paid",
];
const DELIVERED = [
  ...PAID,
  "09:01:30 shipment.courier_assigned awaiting_pickup paid",
  "09:01:30 shipment.eta_changed awaiting_pickup paid",
  "09:01:45 shipment.at_pickup awaiting_pickup paid",
  "09:02:00 shipment.in_transit in_transit paid",
  "09:02:30 shipment.eta_changed in_transit paid",
  "09:02:45 shipment.at_dropoff in_transit paid",
  "09:03:00 shipment.delivered delivered paid",
];

const FAILED_ONCE = [
  ...PAID,
  "09:02:00 shipment.courier_assigned awaiting_pickup paid",
  "09:02:00 shipment.eta_changed awaiting_pickup paid",
  "09:03:00 shipment.at_pickup awaiting_pickup paid",
  "09:04:00 shipment.in_transit in_transit paid",
  "09:05:00 shipment.at_dropoff in_transit paid",
  "09:06:00 shipment.attempt_failed in_transit paid",
  "09:07:00 shipment.at_dropoff in_transit paid",
];

/** Complete history of a shipment by scenario, with steps a minute apart. */
const HISTORIES: Readonly<Record<Scenario, readonly string[]>> = {
  deliver: DELIVERED,
  late: [
    ...PAID,
    "09:06:00 shipment.courier_assigned awaiting_pickup paid",
    "09:06:00 shipment.eta_changed awaiting_pickup paid",
    "09:08:30 shipment.at_pickup awaiting_pickup paid",
    "09:11:00 shipment.in_transit in_transit paid",
    "09:16:00 shipment.eta_changed in_transit paid",
    "09:18:30 shipment.at_dropoff in_transit paid",
    "09:21:00 shipment.delivered delivered paid",
  ],
  no_courier: [
    ...PAID,
    "09:02:00 shipment.cancelled cancelled refund_pending",
    "09:03:00 shipment.refunded cancelled refunded",
  ],
  payment_declined: [PAID[0]!, "09:01:00 shipment.payment_failed pending awaiting_payment"],
  payment_after_cancel: [
    PAID[0]!,
    "09:01:00 shipment.cancelled cancelled voided",
    "09:02:00 shipment.paid cancelled refund_pending",
    "09:03:00 shipment.refunded cancelled refunded",
  ],
  refund_failed: [
    ...PAID,
    "09:02:00 shipment.cancelled cancelled refund_pending",
    "09:03:00 shipment.refund_failed cancelled refund_pending",
  ],
  dispute: [
    ...PAID,
    "09:02:00 shipment.in_transit in_transit paid",
    "09:03:00 shipment.delivered delivered paid",
    "09:04:00 shipment.dispute_opened delivered paid",
    "09:05:00 shipment.dispute_closed delivered paid",
  ],
  stuck: PAID,
  failed_attempt: [...FAILED_ONCE, "09:08:00 shipment.delivered delivered paid"],
  returned: [
    ...FAILED_ONCE,
    "09:08:00 shipment.attempt_failed in_transit paid",
    "09:09:00 shipment.returned returned paid",
  ],
};

test.each(SCENARIOS)("scenario %s has its documented history when the clock is moved", async (scenario) => {
  const { apiKey, move, bookFor, ...twin } = await addTwin();
  const reference = await bookFor(scenario);
  expect((await move(`${NEXT_DAY}T00:00:00Z`)).body).toEqual({
    data: { time: `${NEXT_DAY}T00:00:00.000Z`, frozen: true },
    complete: true,
  });
  expect(await historyOf(apiKey, reference)).toEqual(HISTORIES[scenario]);
  expect(await simulationsOf(twin)).toEqual([]);
});

test.each(["pin", "photo", "signature"] as const)("records the %s before a simulated delivery", async (by) => {
  const { apiKey, caller, move } = await addTwin();
  const { reference: shipment } = await book(service, apiKey, {
    dropoff_verification: by,
    simulation: { scenario: "deliver", step_seconds: 60 },
  });
  await move(`${NEXT_DAY}T00:00:00Z`);
  expect(await historyOf(apiKey, shipment)).toEqual([
    ...DELIVERED.slice(0, -1),
    "09:03:00 shipment.proof_recorded delivered paid",
    "09:03:00 shipment.delivered delivered paid",
  ]);
  const { proof } = await data(caller.getShipment({ shipment }));
  expect(proof).toMatchObject({ [by === "pin" ? "pin_verified" : by]: true, waived: null });
  const read = { photo: caller.getProofPhoto, signature: caller.getProofSignature };
  if (by !== "pin") expect((await read[by]({ shipment })).status).toBe(200);
});

test("a simulated courier is at the location of the last step", async () => {
  const { caller, move, bookFor } = await addTwin();
  const shipment = await bookFor("failed_attempt");
  const { pickup_lat, pickup_lng, dropoff_lat, dropoff_lng } = await data(caller.getShipment({ shipment }));
  const [pickup, dropoff] = [
    [pickup_lat, pickup_lng],
    [dropoff_lat, dropoff_lng],
  ];
  const steps: unknown[] = [];
  for (const minute of [2, 3, 4, 5, 6]) {
    await move(`${DAY}T09:0${minute}:00Z`);
    const { body } = await caller.getCourierPlace({ shipment });
    steps.push(body.data ? [body.data.lat, body.data.lng] : undefined);
  }
  expect(steps).toEqual([undefined, pickup, pickup, dropoff, dropoff]);
});

test("a simulated delivery reports locations on the way, and a simulated failed attempt enters a wrong PIN", async () => {
  const { caller, apiKey, move, bookFor } = await addTwin();
  const shipment = await bookFor("deliver");
  const { reference: locked } = await book(service, apiKey, {
    dropoff_verification: "pin",
    ...simulated("failed_attempt"),
  });
  const booked = await data(caller.getShipment({ shipment }));
  const { pickup_lat, pickup_lng, dropoff_lat, dropoff_lng } = booked;
  const places: unknown[] = [];
  for (const time of ["09:01:45", "09:02:00", "09:02:30", "09:02:45"]) {
    await move(`${DAY}T${time}Z`);
    const { lat, lng } = await data(caller.getCourierPlace({ shipment }));
    places.push([lat, lng]);
  }
  const pickup = [pickup_lat, pickup_lng];
  const halfway = [(pickup_lat + dropoff_lat) / 2, (pickup_lng + dropoff_lng) / 2];
  expect(places).toEqual([pickup, pickup, halfway, [dropoff_lat, dropoff_lng]]);
  expect((await data(caller.getShipment({ shipment }))).courier.name).toBe("Test courier");
  await move(`${DAY}T10:00:00Z`);
  const { status, attempts } = await data(caller.getShipment({ shipment: locked }));
  expect([status, attempts.map(({ note }: { note: string }) => note)]).toEqual(["delivered", ["The PIN was wrong."]]);
});

test("moving the clock forward runs only the due steps of several shipments, in order", async () => {
  const { caller, move, bookFor } = await addTwin();
  const names = {
    [await bookFor("deliver", 30)]: "first",
    [await bookFor("payment_after_cancel", 20)]: "second",
  };
  await move(`${DAY}T09:00:59.999Z`);
  const events = await data(caller.listEvents());
  expect(events.map(({ type, shipment }: any) => `${names[shipment]} ${type}`)).toEqual([
    "first shipment.created",
    "second shipment.created",
    "second shipment.cancelled",
    "first shipment.paid",
    "first shipment.awaiting_pickup",
    "second shipment.paid",
    "first shipment.courier_assigned",
    "first shipment.eta_changed",
    "first shipment.at_pickup",
  ]);
});

test("concurrent calls that move a clock run each step once at its time, and the latest time wins", async () => {
  const { apiKey, move, bookFor } = await addTwin();
  const reference = await bookFor("dispute");
  const minutes = [1, 6, 3, 2, 5, 4];
  const answers = await Promise.all(minutes.map((minute) => move(`${DAY}T09:0${minute}:00Z`)));
  expect(answers[1]!.body).toEqual({
    data: { time: `${DAY}T09:06:00.000Z`, frozen: true },
    complete: true,
  });
  expect(await historyOf(apiKey, reference)).toEqual(HISTORIES.dispute);
});

test("a simulation runs in real time at any replica, each step once", async () => {
  const { apiKey, caller, bookFor } = await addTwin({ frozen: false });
  await Promise.all([1, 2].map(() => startReplica(service.databaseUrl, { now, outside: HURRIED })));
  const references = await Promise.all(Array.from({ length: 10 }, () => bookFor("dispute")));
  const statuses = async () =>
    (await data(caller.listShipments())).map((it: any) => it.payment_details?.dispute ?? it.status);
  const all = (status: string) => references.map(() => status);
  try {
    for (const status of ["awaiting_pickup", "in_transit", "delivered", "open", "lost"]) {
      real += 60_000;
      await eventually(status, async () => String(await statuses()) === String(all(status)));
    }
  } finally {
    real = Date.parse(REAL);
  }
  for (const reference of references) {
    expect(await historyOf(apiKey, reference)).toEqual(HISTORIES.dispute);
  }
});

test("a step leased by a killed process is run by another when the lease expires", async () => {
  const { id, bookFor, statusOf } = await addTwin({ frozen: false });
  const reference = await bookFor("stuck");
  await sql.query("update simulation set leased_until = $2 where workspace_id = $1", [id, new Date(real + 65_000)]);
  try {
    real += 64_000;
    expect(await statusOf(reference)).toBe("pending");
    real += 2_000;
    await eventually("the step", async () => (await statusOf(reference)) === "awaiting_pickup");
  } finally {
    real = Date.parse(REAL);
  }
});

test("a simulation ends when another action has changed its shipment", async () => {
  const { apiKey, move, bookFor, ...twin } = await addTwin();
  const reference = await bookFor("deliver");
  await takeStep(service, apiKey, reference, "cancel");
  await move(`${DAY}T09:02:00Z`);
  // A payment after the cancellation is recorded, but the cancelled shipment is not picked up.
  expect(await historyOf(apiKey, reference)).toEqual([
    PAID[0],
    "09:00:00 shipment.cancelled cancelled voided",
    "09:01:00 shipment.paid cancelled refund_pending",
  ]);
  expect(await simulationsOf(twin)).toEqual([]);
});

test("rejects a simulation with a live key and books nothing", async () => {
  const { apiKey } = await service.addWorkspace();
  const caller = service.as(apiKey);
  const fields = { ...BOOKING, ...simulated("deliver") };
  await expectRefused(caller.createShipment(fields), "FIELD_INVALID", {
    simulation: "simulation requires a test key, which begins with shp_test_. Omit it.",
  });
  expect(await data(caller.listShipments())).toEqual([]);
});

test("test steps work without a simulation, and are rejected if they do not fit the shipment's state", async () => {
  const { apiKey, ...twin } = await addTwin();
  const { reference } = await book(service, apiKey);
  const step = async (named: string) => {
    const { code, body } = await twin.step(reference, named);
    return code === undefined ? body.data.status : body.message;
  };
  expect(await step("deliver")).toBe("The shipment cannot be advanced because it is pending.");
  expect(await step("decline_payment")).toBe("pending");
  expect(await step("decline_payment")).toBe("The shipment cannot be declined because it was declined already.");
  await data(takeStep(service, apiKey, reference, "pay"));
  expect(await step("deliver")).toBe("The shipment cannot be delivered because it is awaiting pickup.");
  expect(await step("pick_up")).toBe("in_transit");
  expect(await step("pick_up")).toBe("The shipment cannot be picked up because it is in transit.");
  expect(await step("open_dispute")).toBe("in_transit");
  expect(await step("win_dispute")).toBe("in_transit");
  expect(await step("lose_dispute")).toBe("The shipment cannot have a dispute closed because none is open.");
  expect(await step("deliver")).toBe("delivered");
});

test("nothing is refunded while a dispute is open, and refunded_amount has the amount refunded afterwards", async () => {
  const { apiKey, step } = await addTwin({ frozen: false });
  const bookWithSteps = async (...steps: string[]) => {
    const { reference } = await book(service, apiKey);
    for (const named of steps) await data(step(reference, named));
    return reference as string;
  };
  const refunded = (refunded_amount: number, dispute: string | null) => ({
    payment_status: "refunded",
    payment_details: { refunded_amount, refund_error: null, dispute },
  });
  const record = (reference: string) => takeStep(service, apiKey, reference, "refund");
  for (const refund of [(reference: string) => step(reference, "refund"), record]) {
    const plain = await bookWithSteps("pay", "cancel", "fail_refund");
    expect(await data(refund(plain))).toMatchObject(refunded(12.69, null));

    for (const [closing, amount] of [
      ["win_dispute", 12.69],
      ["lose_dispute", 0],
    ] as const) {
      const reference = await bookWithSteps("pay", "open_dispute", "cancel");
      await expectRefused(refund(reference), "PAYMENT_DISPUTED");
      await expectRefused(step(reference, "fail_refund"), "PAYMENT_DISPUTED");
      const closed = await data(step(reference, closing));
      const after = closed.payment_status === "refunded" ? closed : await data(refund(reference));
      expect(after).toMatchObject(refunded(amount, closing === "win_dispute" ? "won" : "lost"));
    }
    const lost = await bookWithSteps("pay", "open_dispute", "lose_dispute", "cancel");
    expect(await data(refund(lost))).toMatchObject(refunded(0, "lost"));
  }
});

test("a simulation whose next step is a refund ends if a dispute is open", async () => {
  const { apiKey, move, step, bookFor, ...twin } = await addTwin();
  const reference = await bookFor("no_courier");
  await move(`${DAY}T09:02:00Z`);
  await data(step(reference, "open_dispute"));
  expect((await move(`${DAY}T09:03:00Z`)).body.complete).toBe(true);
  expect((await historyOf(apiKey, reference)).at(-1)).toBe("09:02:00 shipment.dispute_opened cancelled refund_pending");
  expect(await simulationsOf(twin)).toEqual([]);
});

test("lists simulations by their next step's time, and a manual step continues the simulation", async () => {
  const { apiKey, caller, bookFor, step, move } = await addTwin();
  const [late, soon] = [await bookFor("late", 120), await bookFor("deliver", 60)];
  const listed = async (fields = {}) => (await caller.listSimulations(fields)).body;
  const first = {
    shipment: soon,
    scenario: "deliver",
    steps_taken: 0,
    next_step: "pay",
    due_at: `${DAY}T09:01:00.000Z`,
  };
  const second = { ...first, shipment: late, scenario: "late", due_at: `${DAY}T09:02:00.000Z` };
  expect(await listed()).toEqual({ data: [first, second], next_page_token: "" });
  const { data: page, next_page_token: page_token } = await listed({ page_size: 1 });
  expect([page, await listed({ page_token })]).toEqual([[first], { data: [second], next_page_token: "" }]);
  await data(step(late, "pay"));
  await data(step(soon, "decline_payment"));
  expect((await listed()).data).toEqual([
    first,
    { ...second, steps_taken: 1, next_step: "assign_courier", due_at: `${DAY}T09:10:00.000Z` },
  ]);
  await move(`${DAY}T09:02:00Z`);
  for (const next of ["travel", "arrive", "deliver"]) await data(step(soon, next));
  expect((await listed()).data.map((it: any) => it.shipment)).toEqual([late]);
  expect((await historyOf(apiKey, soon)).at(-1)).toBe("09:02:00 shipment.delivered delivered paid");
});

test("a step repeated with its idempotency key is run once", async () => {
  const { apiKey, caller } = await addTwin({ frozen: false });
  const { reference: shipment } = await book(service, apiKey);
  const pay = () => caller.takeTestStep({ shipment, step: "pay" }, { "idempotency-key": "once" });
  const [first, second] = [await pay(), await pay()];
  expect([first.status, second.status, second.text]).toEqual([200, 200, first.text]);
});

test("deleting test data ends its simulations", async () => {
  const { caller, bookFor, ...twin } = await addTwin();
  await bookFor("deliver");
  await caller.deleteTestData();
  expect(await simulationsOf(twin)).toEqual([]);
});

test("limits active simulations to 1,000, even for concurrent bookings on two replicas", async () => {
  const { apiKey, ...twin } = await addTwin({ frozen: false });
  const other = await startReplica(service.databaseUrl, { now, outside: HURRIED });
  const ask = (at: Pick<typeof service, "as">) =>
    at.as(apiKey).createShipment({ ...BOOKING, ...simulated("stuck", 86_400) });
  await insertBooked(sql, twin.id, REAL, { count: 960 });
  await sql.query(
    `insert into simulation (workspace_id, shipment_reference, scenario, step_seconds, due_at, next_try_at)
     select workspace_id, reference, 'stuck', 86400, $2, $2 from shipment where workspace_id = $1`,
    [twin.id, new Date(real + 86_400_000)],
  );
  const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => ask(i % 2 === 0 ? service : other)));
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(20);
  for (const answer of refused) {
    await expectRefused(answer, "SIMULATION_LIMIT", {
      simulation:
        "Test mode has reached its limit of 1000 running simulations. Wait until some simulations end, advance the test clock, or delete the test data.",
    });
  }
  expect((await simulationsOf(twin)).length).toBe(1_000);
  await book(service, apiKey);
  await (await addTwin()).bookFor("stuck");

  const references = answers.flatMap(({ body }) => body.data?.reference ?? []);
  await takeStep(service, apiKey, references[0], "pay");
  await sql.query("update simulation set due_at = $2, next_try_at = $2 where shipment_reference = any ($1)", [
    references,
    now(),
  ]);
  await eventually("40 simulations to end", async () => (await simulationsOf(twin)).length === 960);
  expect((await ask(service)).status).toBe(201);
});

test("simulations with frozen clocks are not polled, and continue when the clock is released", async () => {
  const { id, caller, move, bookFor, statusOf } = await addTwin();
  const moving = await addTwin({ frozen: false });
  const [first] = await Promise.all(Array.from({ length: 40 }, () => bookFor("dispute")));
  const parked = async () => (await simulationsOf({ id })).every(({ next_try_at: time }) => time === null);
  try {
    real += 600_000;
    await eventually("polls to stop", parked);
    // Another twin's simulation runs meanwhile. This twin's simulations depend only on its own clock.
    const sent = await queriesOf(service.app.em, async () => {
      const other = await moving.bookFor("stuck", 1);
      real += 2_000;
      await eventually("the next step", async () => (await moving.statusOf(other)) !== "pending");
    });
    const poll = sent.find(({ sql: text }) => text.includes("next_try_at <= $1"))!;
    expect(Math.max(0, ...Object.values(rowsTouched(await planOf(sql, poll))))).toBe(0);
    expect(await statusOf(first!)).toBe("pending");
    await move(`${DAY}T09:01:00Z`);
    expect(await statusOf(first!)).toBe("awaiting_pickup");
    expect(await parked()).toBe(true);

    await caller.releaseTestClock();
    await eventually("the second step of all", async () => {
      const { rows } = await sql.query("select from simulation where workspace_id = $1 and taken < 2", [id]);
      return rows.length === 0;
    });
  } finally {
    real = Date.parse(REAL);
  }
});

test("paused simulations continue when their clock is released because it was not moved", async () => {
  const { bookFor, ...twin } = await addTwin();
  await bookFor("deliver", 86_400);
  await sql.query("update simulation set next_try_at = null where workspace_id = $1", [twin.id]);
  await purgeTestData(service.app.em, new Date(real + 30.1 * 86_400_000));
  const due = new Date(real + 86_400_000);
  expect(await simulationsOf(twin)).toMatchObject([{ next_try_at: due }]);
});

test("a failing step is retried with increasing delays without blocking others, and given up after 8 attempts", async () => {
  const { bookFor, statusOf, ...twin } = await addTwin({ frozen: false });
  const reference = await bookFor("deliver", 1);
  const failing = "this_one_fails";
  await sql.query(
    `alter table simulation add constraint ${failing} check (shipment_reference <> '${reference}' or taken = 0)`,
  );
  const triedAt: number[] = [];
  try {
    for (let tries = 1; tries <= 8; tries++) {
      const [{ next_try_at: next }] = (await simulationsOf(twin)) as [{ next_try_at: Date }];
      triedAt.push(Number(next));
      real = Number(next);
      await eventually(`attempt ${tries}`, async () => (await simulationsOf(twin))[0].tries === tries);
      const other = await bookFor("stuck", 1);
      real += 1_000;
      await eventually("another to continue", async () =>
        (await simulationsOf(twin)).every((it) => it.reference !== other),
      );
    }
    real += 300_000;
    await eventually("the simulation to be abandoned", async () => (await simulationsOf(twin)).length === 0);
  } finally {
    real = Date.parse(REAL);
    await sql.query(`alter table simulation drop constraint ${failing}`);
  }
  const waits = triedAt.slice(1).map((time, i) => (time - triedAt[i]!) / 1_000);
  expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300]);
  const messages = logged.filter((line) => line["shipment"] === reference).map(({ msg }) => msg);
  expect(messages).toEqual([
    ...Array.from({ length: 8 }, () => "a step of a simulation failed"),
    "simulation abandoned: its next step failed 8 times",
  ]);
  expect(await statusOf(reference)).toBe("pending");
});
