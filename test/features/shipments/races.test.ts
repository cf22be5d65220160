import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { expectRefused } from "../../support/answers.ts";
import type { ApiProtocol } from "../../support/client.ts";
import { book, BOOKING, PAYMENT, takeStep } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { insertCustomers, insertShipments } from "../../support/insert-shipments.ts";
import { sharedService } from "../../support/service.ts";

const ROUNDS = 80;
/** Number of concurrent rounds. Each has two calls, and the service has 20 connections. */
const CONCURRENT_ROUNDS = 10;

const service = await sharedService();
const sql = await connectTo(service.databaseUrl);
const workspace = await service.addWorkspace();
const customer = await insertCustomers(sql, workspace.id, 1);

/** Responses to two concurrent calls, and the resulting row. */
interface Outcome {
  readonly a: string;
  readonly b: string;
  readonly row: Record<string, any>;
}

type Call = (reference: string, round: number) => Promise<string>;

/**
 * Races `a` against `b` many times, each time on a new shipment. The second call starts 0 to 3 ms
 * after the first. The order alternates, so that each call finishes first in some rounds.
 */
async function race(
  state: { status: string; paymentStatus: string; salt: string },
  a: Call,
  b: Call,
): Promise<Outcome[]> {
  const references = await insertShipments(sql, {
    workspace: workspace.id,
    count: ROUNDS,
    customer: String(customer),
    status: `'${state.status}'`,
    paymentStatus: `'${state.paymentStatus}'`,
    salt: state.salt,
  });
  const answers: [string, string][] = [];
  const rounds = references.entries();
  await Promise.all(
    Array.from({ length: CONCURRENT_ROUNDS }, async () => {
      for (const [round, reference] of rounds) {
        const second = () => sleep(Math.floor(round / 2) % 4);
        answers[round] =
          round % 2 === 0
            ? await Promise.all([a(reference, round), second().then(() => b(reference, round))])
            : await Promise.all([second().then(() => a(reference, round)), b(reference, round)]);
      }
    }),
  );
  const rows = await read(references);
  return answers.map(([x, y], round) => ({ a: x, b: y, row: rows.get(references[round]!)! }));
}

async function read(references: string[]): Promise<Map<string, Record<string, any>>> {
  const { rows } = await sql.query(
    `select s.reference, s.status, s.payment_status, s.version, s.cancelled_at is not null as cancelled,
       s.pickup_address, p.amount_minor
     from shipment s left join payment p on (p.workspace_id, p.shipment_reference) = (s.workspace_id, s.reference)
     where s.reference = any($1)`,
    [references],
  );
  return new Map(rows.map(({ reference, ...row }) => [reference, row]));
}

/** Counts the occurrences of each outcome. */
function tally(outcomes: readonly Outcome[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) {
    const text = JSON.stringify(outcome);
    counts[text] = (counts[text] ?? 0) + 1;
  }
  return counts;
}

/** Expects that only these outcomes occur, each at least once. */
function expectOnly(outcomes: readonly Outcome[], legal: readonly Outcome[]): void {
  expect(outcomes.length).toBe(ROUNDS);
  expect(Object.keys(tally(outcomes)).sort()).toEqual(legal.map((it) => JSON.stringify(it)).sort());
}

function step(kind: "pay" | "advance" | "cancel"): Call {
  return async (reference) => {
    const { status, body } = await takeStep(service, workspace.apiKey, reference, kind);
    return status === 200 ? `${body.data.status}, ${body.data.payment_status}` : `${status} ${body.message}`;
  };
}

test("exactly one of a concurrent cancellation and advance succeeds", async () => {
  const outcomes = await race(
    { status: "awaiting_pickup", paymentStatus: "paid", salt: "advance" },
    step("cancel"),
    step("advance"),
  );
  const left = { version: 2, pickup_address: "From", amount_minor: null };
  expectOnly(outcomes, [
    {
      a: "cancelled, refund_pending",
      b: "422 The shipment cannot be advanced because it is cancelled.",
      row: rowOf({
        ...left,
        status: "cancelled",
        payment_status: "refund_pending",
        cancelled: true,
      }),
    },
    {
      a: "422 The shipment cannot be cancelled because it is in transit.",
      b: "in_transit, paid",
      row: rowOf({ ...left, status: "in_transit", payment_status: "paid", cancelled: false }),
    },
  ]);
});

test("a payment concurrent with a cancellation is recorded and its refund is pending, in either order", async () => {
  const outcomes = await race(
    { status: "pending", paymentStatus: "awaiting_payment", salt: "pay" },
    step("pay"),
    step("cancel"),
  );
  const row = rowOf({
    status: "cancelled",
    payment_status: "refund_pending",
    version: 3,
    cancelled: true,
    pickup_address: "From",
    amount_minor: "1269",
  });
  expectOnly(outcomes, [
    { a: "awaiting_pickup, paid", b: "cancelled, refund_pending", row },
    { a: "cancelled, refund_pending", b: "cancelled, voided", row },
  ]);
});

test("exactly one of two concurrent updates with the same etag succeeds, over JSON and gRPC", async () => {
  const updateBy = (protocol: ApiProtocol): Call => {
    const caller = service.as(workspace.apiKey, protocol);
    return async (shipment) => {
      const { code, body } = await caller.updateShipment({
        shipment,
        etag: "1",
        pickup_address: `By ${protocol}`,
      });
      return code ?? `etag ${body.data.etag}, ${body.data.pickup_address}`;
    };
  };
  const outcomes = await race(
    { status: "pending", paymentStatus: "awaiting_payment", salt: "update" },
    updateBy("json"),
    updateBy("grpc"),
  );
  const row = (pickup_address: string) =>
    rowOf({
      status: "pending",
      payment_status: "awaiting_payment",
      version: 2,
      cancelled: false,
      pickup_address,
      amount_minor: null,
    });
  expectOnly(outcomes, [
    { a: "etag 2, By json", b: "ETAG_STALE", row: row("By json") },
    { a: "ETAG_STALE", b: "etag 2, By grpc", row: row("By grpc") },
  ]);
});

/** Returns the columns in the order in which the service reads them. */
function rowOf(row: Record<string, unknown>): Record<string, unknown> {
  const columns = ["status", "payment_status", "version", "cancelled", "pickup_address", "amount_minor"];
  return Object.fromEntries(columns.map((column) => [column, row[column]]));
}

test("a change that waits for a customer change of the same shipment still finds the shipment", async () => {
  const { apiKey } = await service.addWorkspace();
  const other = await book(service, apiKey, { customer_email: "other@example.org" });
  for (let round = 0; round < 40; round++) {
    const { reference } = await book(service, apiKey);
    const [linked, paid] = await Promise.all([
      service.as(apiKey).updateShipment({ shipment: reference, customer_id: other["customer"].id }),
      takeStep(service, apiKey, reference, "pay"),
    ]);
    expect(linked).toMatchObject({ status: 200, body: { data: { customer: other["customer"] } } });
    expect(paid).toMatchObject({
      status: 200,
      body: { data: { status: "awaiting_pickup" }, payment: PAYMENT },
    });
  }
});

test("exactly one of several concurrent bookings with one external reference succeeds, and the others return it", async () => {
  const { apiKey, id } = await service.addWorkspace();
  for (let round = 0; round < 20; round++) {
    const external_reference = `order ${round}`;
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => service.as(apiKey).createShipment({ ...BOOKING, external_reference })),
    );
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    const text = `external_reference already belongs to the shipment ${made[0]!.body.data.reference}.`;
    const refused = answers.filter((it) => it !== made[0]);
    for (const answer of refused) {
      await expectRefused(
        answer,
        "EXTERNAL_REFERENCE_TAKEN",
        { external_reference: text },
        { shipment: made[0]!.body.data.reference },
      );
    }
  }
  const { rows } = await sql.query("select count(*)::int from shipment where workspace_id = $1", [id]);
  expect(rows).toEqual([{ count: 20 }]);
});
