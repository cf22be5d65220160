import { expect, test } from "vitest";
import { NO_PAYMENT_DETAILS } from "../../../src/domain/shipment/payment-details.ts";
import { data, invalidFields } from "../../support/answers.ts";
import { ANY_TIME, bookAnd, type Step, takeStep } from "../../support/bookings.ts";
import { connectTo, createDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { type Bulk, insertCustomers, insertShipments } from "../../support/insert-shipments.ts";
import { makeWorkspace, setPaymentProvider } from "../../support/platform.ts";
import { startUnprepared } from "../../support/service.ts";
import { bookCheckout, startStripeService, untilShipment } from "../../support/stripe-service.ts";
import { addWebhook } from "../../support/webhooks.ts";

const setup = await startStripeService();
const { service, stripe } = setup;
const { em } = service.app;

const attentionOf = (apiKey: string): Promise<any[]> => data(service.as(apiKey).getAttention());

/** Returns a subject in the report, with only the given fields set. */
const subject = (fields: object) => ({ name: null, at: null, reason: null, shipment: null, ...fields });
/** Returns a group in the report with all its subjects. */
const need = (kind: string, ...subjects: object[]) => ({ kind, count: subjects.length, subjects });

test("lists blocked bookings first, and nothing for a workspace without problems", async () => {
  const { id, apiKey } = await service.addWorkspace({ paymentProvider: undefined });
  expect(await attentionOf(apiKey)).toEqual([{ kind: "payment_provider", count: 1, subjects: [] }]);
  await setPaymentProvider(em, id, "manual");
  expect(await attentionOf(apiKey)).toEqual([]);
  const bare = await startUnprepared((await createDatabase()).url);
  await bare.app.prepare();
  const poor = await makeWorkspace(bare.app.em, { name: "Poor", paymentProvider: undefined });
  const found = await data(bare.as(poor.apiKey).getAttention());
  expect(found.map(({ kind }: any) => kind)).toEqual(["tariff", "payment_provider"]);
});

test("lists manual refunds until they are recorded", async () => {
  const { apiKey } = await service.addWorkspace();
  await bookAnd(service, apiKey, ["cancel"]);
  await bookAnd(service, apiKey, ["pay", "cancel", "refund"]);
  const first = await bookAnd(service, apiKey, ["pay", "cancel"]);
  setup.clock.ms += 1_000;
  const second = await bookAnd(service, apiKey, ["pay", "cancel"]);
  const due = ({ reference, cancelled_at }: any) => subject({ id: reference, at: cancelled_at });
  expect(await attentionOf(apiKey)).toEqual([need("refund_due", due(first), due(second))]);
  for (let i = 0; i < 9; i++) await bookAnd(service, apiKey, ["pay", "cancel"]);
  const [many] = await attentionOf(apiKey);
  expect([many.count, many.subjects.length, many.subjects[0]]).toEqual([11, 10, due(first)]);
});

test("lists provider refunds only when they fail, and disputes while they need a response", async () => {
  const workspace = await setup.connect();
  const { apiKey, account } = workspace;
  const bookPaid = async () => {
    const { reference, session } = await bookCheckout(setup, workspace);
    stripe.pay(session);
    await takeStep(service, apiKey, reference, "pay");
    return { reference, session };
  };
  const [pending, failed, disputed] = [await bookPaid(), await bookPaid(), await bookPaid()];
  stripe.refundsBecome(account, "pending");
  await takeStep(service, apiKey, pending.reference, "cancel");
  await eventually("the refund", async () => stripe.books(account).refunds.size > 0);
  expect(await attentionOf(apiKey)).toEqual([]);
  stripe.refundsBecome(account, "failed");
  const { cancelled_at: at } = await data(takeStep(service, apiKey, failed.reference, "cancel"));
  stripe.openDispute(disputed.session);
  await stripe.deliverEvents();
  const details = { dispute: "open" };
  await untilShipment(service, apiKey, disputed.reference, { payment_details: details });
  await eventually("both subjects", async () => (await attentionOf(apiKey)).length === 2);
  const reason = expect.stringMatching(/^The refund failed: /);
  expect(await attentionOf(apiKey)).toEqual([
    need("refund_failed", subject({ id: failed.reference, at, reason })),
    need("dispute_open", subject({ id: disputed.reference })),
  ]);
});

test("lists failures even among many unpaid shipments", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const sql = await connectTo(service.databaseUrl);
  const customer = String(await insertCustomers(sql, id, 1));
  const bulk = (filter: object, more: Partial<Bulk>) => {
    const paymentDetails = `'${JSON.stringify({ ...NO_PAYMENT_DETAILS, ...filter })}'::jsonb`;
    return insertShipments(sql, { workspace: id, customer, count: 1, paymentDetails, ...more });
  };
  const createdAt = "timestamptz '2026-01-01' + i * interval '1 minute'";
  const delivered = { status: "'delivered'", paymentStatus: "'paid'", createdAt };
  const disputed = await bulk({ dispute: "open" }, { ...delivered, count: 2, salt: "d" });
  await bulk({ error: "Declined." }, { count: 1_100, salt: "declined" });
  const subjects = disputed.map((reference) => subject({ id: reference }));
  expect(await attentionOf(apiKey)).toEqual([need("dispute_open", ...subjects)]);
  const failed = { failed: true, order_by: "created_at", page_size: 2 };
  const listed = await data(service.as(apiKey).listShipments(failed));
  expect(listed.map(({ reference }: any) => reference)).toEqual(disputed);
});

test("lists shipments that are late or had a failed delivery attempt", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const sql = await connectTo(service.databaseUrl);
  const minute = (n: number) => new Date(setup.clock.ms + n * 60_000).toISOString();
  const window = (n: number) => ({
    start: minute(n - 60),
    end: minute(n),
    timeZone: "UTC",
    feeMinor: 0,
  });
  /** Creates a shipment whose windows end in the given number of minutes. */
  const promised = async (steps: readonly Step[], ends: { pickup?: number; dropoff?: number }) => {
    const { reference } = await bookAnd(service, apiKey, steps);
    const windows = Object.entries(ends).map(([end, n]) => [end, window(n)] as const);
    await sql.query("update shipment set windows = $3 where workspace_id = $1 and reference = $2", [
      id,
      reference,
      { pickup: null, dropoff: null, ...Object.fromEntries(windows) },
    ]);
    return reference as string;
  };
  const as = service.as(apiKey);
  const toPickUp = await promised(["pay"], { pickup: -1 });
  const toDeliver = await promised(["pay", "advance"], { pickup: -300, dropoff: -3 });
  const open = await promised(["pay", "advance"], { dropoff: -2 });
  const missedPickup = await promised(["pay"], { pickup: -4, dropoff: 1 });
  const expectedLate = await promised(["pay", "advance"], { dropoff: 30 });
  await data(as.reportProgress({ shipment: expectedLate, dropoff_eta: minute(31) }));
  const arrived = await promised(["pay", "advance"], { dropoff: 30 });
  await data(as.reportProgress({ shipment: arrived, dropoff_eta: minute(31), stage: "at_dropoff" }));
  await promised(["pay", "advance"], { pickup: -1 });
  await promised(["pay", "advance"], { pickup: -60, dropoff: 1 });
  await promised([], { pickup: -1 });
  await promised(["pay", "advance", "advance"], { dropoff: -1 });
  for (const reason of ["nobody_there", "refused"]) {
    await data(as.recordAttempt({ shipment: open, reason }));
  }
  await data(as.recordAttempt({ shipment: toPickUp, reason: "damaged" }));
  const at = new Date(setup.clock.ms).toISOString();
  expect(await attentionOf(apiKey)).toEqual([
    need("pickup_late", subject({ id: missedPickup, at: minute(-4) }), subject({ id: toPickUp, at: minute(-1) })),
    need(
      "delivery_late",
      subject({ id: toDeliver, at: minute(-3) }),
      subject({ id: open, at: minute(-2) }),
      subject({ id: expectedLate, at: minute(30) }),
    ),
    need(
      "attempts_failed",
      subject({ id: open, at, reason: "refused" }),
      subject({ id: toPickUp, at, reason: "damaged" }),
    ),
  ]);
  const found = await data(as.getAttention({ shipments: true }));
  const shipments = await Promise.all([missedPickup, toPickUp].map((shipment) => data(as.getShipment({ shipment }))));
  expect(found[0].subjects.map(({ shipment }: any) => shipment)).toEqual(shipments);
  await data(as.returnShipment({ shipment: open }));
  const locked = await bookAnd(service, apiKey, ["pay", "advance"], {
    dropoff_verification: "pin",
  });
  const { reference: shipment, dropoff_pin } = locked;
  for (let i = 1; i <= 5; i++) {
    const pin = String((Number(dropoff_pin) + i) % 10_000).padStart(4, "0");
    await as.recordProof({ shipment, pin });
  }
  expect((await attentionOf(apiKey)).at(-1)).toEqual(need("pin_locked", subject({ id: shipment })));
  await data(as.waiveVerification({ shipment, reason: "Known" }));
  const left = await attentionOf(apiKey);
  expect(left.map(({ kind, count }) => [kind, count])).toEqual([
    ["pickup_late", 2],
    ["delivery_late", 2],
    ["attempts_failed", 1],
  ]);
});

test("a shipment without windows is late at an age set by the workspace", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const as = service.as(apiKey);
  const sql = await connectTo(service.databaseUrl);
  const createdAt = (minutes: number) => new Date(setup.clock.ms - minutes * 60_000);
  const booked = async (steps: readonly Step[], minutes: number) => {
    const { reference } = await bookAnd(service, apiKey, steps);
    await sql.query("update shipment set created_at = $3 where workspace_id = $1 and reference = $2", [
      id,
      reference,
      createdAt(minutes),
    ]);
    return reference as string;
  };
  const moving = await booked(["pay", "advance"], 242);
  const waiting = await booked(["pay"], 241);
  const recent = await booked(["pay"], 239);
  await booked([], 300);
  await booked(["pay", "advance", "advance"], 300);
  const late = (reference: string, minutes: number) => subject({ id: reference, at: createdAt(minutes).toISOString() });
  expect(await attentionOf(apiKey)).toEqual([
    need("pickup_late", late(waiting, 1)),
    need("delivery_late", late(moving, 2)),
  ]);
  const asap = await data(as.listShipments({ status: "awaiting_pickup", order_by: "pickup_window" }));
  expect(asap.map(({ reference }: { reference: string }) => reference)).toEqual([waiting, recent]);
  expect(await invalidFields(as.updateWorkspace({ late_after_minutes: 0 }))).toEqual(["late_after_minutes"]);
  const { late_after_minutes } = await data(as.updateWorkspace({ late_after_minutes: 242 }));
  expect(late_after_minutes).toBe(242);
  expect(await attentionOf(apiKey)).toEqual([]);
});

test("lists webhooks that fail or were disabled because of failures, but not those disabled on request", async () => {
  const { id: workspace, apiKey } = await service.addWorkspace();
  const url = "https://example.org/hook";
  const add = async (columns: string) => {
    const { data: webhook } = await addWebhook(service, apiKey, { url });
    const change = `update webhook set ${columns} where workspace_id = ? and id = ?`;
    await em.execute(change, [workspace, webhook.id]);
    return { id: webhook.id, name: url };
  };
  await add("failing_since = null");
  await add("disabled_reason = 'request', failing_since = now()");
  const gone = await add("disabled_reason = 'gone'");
  const failing = await add("failing_since = '2026-11-20T08:00:00Z'");
  expect(await attentionOf(apiKey)).toEqual([
    need("webhook_disabled", subject(gone)),
    need("webhook_failing", subject({ ...failing, at: "2026-11-20T08:00:00.000Z" })),
  ]);
});

test("lists expiring keys, the next to expire first", async () => {
  const { apiKey } = await service.addWorkspace();
  const as = service.as(apiKey);
  const createEnding = async (name: string, overlap_seconds: number) => {
    const { id: key } = await data(as.createApiKey({ name }));
    await data(as.rotateApiKey({ key, overlap_seconds }));
    return subject({ id: key, name, at: ANY_TIME });
  };
  const late = await createEnding("Late", 600_000);
  const soon = await createEnding("Soon", 3_600);
  expect(await attentionOf(apiKey)).toEqual([need("api_key_ending", soon, late)]);
});

test("lists unassigned shipments that are due within the hour in workspaces that have couriers", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const as = service.as(apiKey);
  const sql = await connectTo(service.databaseUrl);
  const minute = (n: number) => new Date(setup.clock.ms + n * 60_000).toISOString();
  const due = async (n: number, steps: readonly Step[] = ["pay"]) => {
    const { reference } = await bookAnd(service, apiKey, steps);
    const pickup = { start: minute(n - 60), end: minute(n), timeZone: "UTC", feeMinor: 0 };
    const windows = { pickup, dropoff: null };
    const change = "update shipment set windows = $3 where workspace_id = $1 and reference = $2";
    await sql.query(change, [id, reference, windows]);
    return reference as string;
  };
  const later = await due(59);
  const sooner = await due(58);
  await due(61);
  await due(58, []);
  const assigned = await due(58);
  await data(as.setCourier({ shipment: assigned, name: "Grace" }));
  expect(await attentionOf(apiKey)).toEqual([]);
  const { id: courier } = await data(as.createCourier({ name: "Ada" }));
  const soon = [subject({ id: sooner, at: minute(58) }), subject({ id: later, at: minute(59) })];
  expect(await attentionOf(apiKey)).toEqual([need("courier_missing", ...soon)]);
  const expectedLate = await due(30);
  await data(as.reportProgress({ shipment: expectedLate, pickup_eta: minute(31) }));
  const late = [subject({ id: await due(-1), at: minute(-1) }), subject({ id: expectedLate, at: minute(30) })];
  expect(await attentionOf(apiKey)).toEqual([need("pickup_late", ...late), need("courier_missing", ...soon)]);
  // Late shipments that `pickup_late` does not check are listed without a courier.
  const customer = String(await insertCustomers(sql, id, 1));
  const windows = { pickup: { start: minute(-120), end: minute(-60), timeZone: "UTC", feeMinor: 0 }, dropoff: null };
  await insertShipments(sql, {
    workspace: id,
    customer,
    count: 200,
    status: "'awaiting_pickup'",
    paymentStatus: "'paid'",
    windows: `'${JSON.stringify(windows)}'`,
  });
  await sql.query(
    `update shipment set progress = '{"courier": {"name": "Grace"}}' where workspace_id = $1 and customer_id = $2`,
    [id, customer],
  );
  const [first, ...others] = await attentionOf(apiKey);
  expect([first.kind, first.count]).toEqual(["pickup_late", 100]);
  expect(others).toEqual([need("courier_missing", ...late, ...soon)]);
  await data(as.archiveCourier({ courier }));
  expect((await attentionOf(apiKey)).map(({ kind }) => kind)).toEqual(["pickup_late"]);
});

test("lists couriers with open shipments who were seen today but not in the last 20 minutes", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const as = service.as(apiKey);
  const sql = await connectTo(service.databaseUrl);
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const add = async (name: string) => {
    const { id: courier } = await data(as.createCourier({ name }));
    const { reference: shipment } = await bookAnd(service, apiKey, ["pay"]);
    await as.assignCourier({ courier, shipments: [{ shipment }] });
    return { courier, shipment } as { courier: string; shipment: string };
  };
  const report = ({ shipment }: { shipment: string }, measured_at: string) =>
    as.reportPlaces({ places: [{ shipment, lat: 40.7, lng: -74, measured_at }] });
  const seen = async ({ courier }: { courier: string }, minutes: number) => {
    await as.createCourierLink({ courier });
    await sql.query(
      `insert into courier_session (workspace_id, hash, link_id, user_agent, created_at, last_seen_at)
       select workspace_id, 'hash of ' || id, id, '', now(), now() - make_interval(mins => $3)
       from courier_link where workspace_id = $1 and courier_id = $2`,
      [id, courier, minutes],
    );
  };
  const [away, near, open, old, done] = [
    await add("Ada"),
    await add("B"),
    await add("C"),
    await add("D"),
    await add("E"),
  ];
  await add("Never seen");
  const at = ago(21);
  await report(away, at);
  await report(near, ago(19));
  await report(open, ago(30));
  await seen(open, 19);
  await seen(old, 13 * 60);
  await seen(done, 25);
  await as.cancelShipment({ shipment: done.shipment });
  const unseen = need("courier_unseen", subject({ id: away.courier, name: "Ada", at }));
  const found = async () => (await attentionOf(apiKey)).filter(({ kind }) => kind === "courier_unseen");
  expect(await found()).toEqual([unseen]);
  await seen(away, 1);
  expect(await found()).toEqual([]);
});
