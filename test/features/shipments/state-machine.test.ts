import fc from "fast-check";
import { expect, test } from "vitest";
import { expectRefused } from "../../support/answers.ts";
import { book, NO_SHIPMENT, takeStep, type Step } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { sharedService } from "../../support/service.ts";

/**
 * State that each step leads to, by current state. Handwritten, independent of the code. All other steps are refused.
 */
const TABLE: Readonly<Record<string, Partial<Record<Step, string>>>> = {
  "pending, awaiting_payment": { pay: "awaiting_pickup, paid", cancel: "cancelled, voided" },
  "awaiting_pickup, paid": { advance: "in_transit, paid", cancel: "cancelled, refund_pending" },
  "in_transit, paid": { advance: "delivered, paid" },
  "delivered, paid": {},
  "cancelled, voided": { pay: "cancelled, refund_pending" },
  "cancelled, refund_pending": { refund: "cancelled, refunded" },
  "cancelled, refunded": {},
};
const BOOKED = "pending, awaiting_payment";
const PARTICIPLES = { pay: "paid", advance: "advanced", cancel: "cancelled", refund: "refunded" };

/** The caller: the workspace over JSON or gRPC, or another workspace. */
type Actor = "json" | "grpc" | "stranger";

/** A call with its response. */
interface Attempt {
  readonly who: Actor;
  readonly step: Step;
  /** State in the response, or the error's reason. */
  readonly answer: string;
}

const service = await sharedService();
const sql = await connectTo(service.databaseUrl);
const { apiKey } = await service.addWorkspace();
const { apiKey: strangersKey } = await service.addWorkspace();

async function ask(who: Actor, step: Step, shipment: string): Promise<Attempt> {
  const key = who === "stranger" ? strangersKey : apiKey;
  const protocol = who === "grpc" ? "grpc" : "json";
  const answer = await takeStep(service, key, shipment, step, protocol);
  const { code, body } = answer;
  if (code === undefined) return { who, step, answer: stateOf(body.data) };
  if (code === "SHIPMENT_NOT_FOUND") await expectRefused(answer, code, NO_SHIPMENT.message);
  else await expectRefused(answer, "SHIPMENT_STATE", { shipment: body.message });
  return { who, step, answer: body.message };
}

function stateOf({ status, payment_status }: Record<string, any>): string {
  return `${status}, ${payment_status}`;
}

/** Returns the state after a response. `undefined` if `TABLE` does not allow the response. */
function explain(state: string, { who, step, answer }: Attempt): string | undefined {
  if (who === "stranger") return answer === NO_SHIPMENT.message ? state : undefined;
  const next = TABLE[state]![step];
  if (next !== undefined) return answer === next ? next : undefined;
  return answer.startsWith(`The shipment cannot be ${PARTICIPLES[step]} because it`) ? state : undefined;
}

/** Returns the possible states after concurrent calls: one for each order that explains all responses. */
function explainAll(state: string, calls: readonly Attempt[]): string[] {
  if (calls.length === 0) return [state];
  return calls.flatMap((call, i) => {
    const next = explain(state, call);
    return next === undefined ? [] : explainAll(next, calls.toSpliced(i, 1));
  });
}

const call = fc.tuple(
  fc.constantFrom<Actor>("json", "json", "grpc", "grpc", "stranger"),
  fc.constantFrom<Step>("pay", "advance", "cancel", "refund"),
);
/** Sequential rounds of concurrent calls. */
const rounds = fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { maxLength: 8 });

test("any sequential or concurrent calls by several clients have results that the state table allows", async () => {
  await fc.assert(
    fc.asyncProperty(rounds, async (plan) => {
      const { reference } = await book(service, apiKey);
      let state = BOOKED;
      let changes = 0;
      for (const round of plan) {
        const responses = await Promise.all(round.map(([who, step]) => ask(who, step, reference)));
        const left = await stateInDatabase(reference);
        expect(explainAll(state, responses), JSON.stringify({ state, responses })).toContain(left.state);
        changes += responses.filter(({ answer }) => answer in TABLE).length;
        state = left.state;
        expect(left).toEqual({
          state,
          version: changes + 1,
          ...recordsOf(state),
        });
      }
    }),
    { numRuns: 30 },
  );
});

async function stateInDatabase(reference: string) {
  const { rows } = await sql.query(
    `select s.status || ', ' || s.payment_status as state, s.version,
       s.cancelled_at is not null as cancelled,
       p.amount_minor::int as "paidMinor", p.refunded_at is not null as refunded
     from shipment s left join payment p on (p.workspace_id, p.shipment_reference) = (s.workspace_id, s.reference)
     where s.reference = $1`,
    [reference],
  );
  return rows[0];
}

/** Returns what is stored for a shipment in each state. */
function recordsOf(state: string) {
  return {
    cancelled: state.startsWith("cancelled"),
    paidMinor: /awaiting_payment|voided/.test(state) ? null : 1269,
    refunded: state.endsWith("refunded"),
  };
}

test("every state of the table is reachable, and every step that it does not list is rejected with a message", async () => {
  const ways: Record<string, Step[]> = { [BOOKED]: [] };
  for (const [state, way] of Object.entries(ways)) visit(state, way);
  function visit(state: string, way: Step[]): void {
    for (const [step, next] of Object.entries(TABLE[state]!) as [Step, string][]) {
      if (next in ways) continue;
      ways[next] = [...way, step];
      visit(next, ways[next]);
    }
  }
  expect(Object.keys(ways).sort()).toEqual(Object.keys(TABLE).sort());

  const refusals: Record<string, string> = {};
  for (const [state, way] of Object.entries(ways)) {
    for (const step of ["pay", "advance", "cancel", "refund"] as const) {
      const { reference } = await book(service, apiKey);
      for (const before of way) await ask("json", before, reference);
      const { answer } = await ask("json", step, reference);
      const next = TABLE[state]![step];
      if (next === undefined) refusals[`${step}: ${state}`] = answer;
      else expect(answer).toBe(next);
    }
  }
  expect(refusals).toMatchInlineSnapshot(`
    {
      "advance: cancelled, refund_pending": "The shipment cannot be advanced because it is cancelled.",
      "advance: cancelled, refunded": "The shipment cannot be advanced because it is cancelled.",
      "advance: cancelled, voided": "The shipment cannot be advanced because it is cancelled.",
      "advance: delivered, paid": "The shipment cannot be advanced because it is delivered.",
      "advance: pending, awaiting_payment": "The shipment cannot be advanced because it is pending.",
      "cancel: cancelled, refund_pending": "The shipment cannot be cancelled because it is already cancelled.",
      "cancel: cancelled, refunded": "The shipment cannot be cancelled because it is already cancelled.",
      "cancel: cancelled, voided": "The shipment cannot be cancelled because it is already cancelled.",
      "cancel: delivered, paid": "The shipment cannot be cancelled because it is delivered.",
      "cancel: in_transit, paid": "The shipment cannot be cancelled because it is in transit.",
      "pay: awaiting_pickup, paid": "The shipment cannot be paid because it is awaiting pickup.",
      "pay: cancelled, refund_pending": "The shipment cannot be paid because its refund is pending.",
      "pay: cancelled, refunded": "The shipment cannot be paid because its payment is refunded.",
      "pay: delivered, paid": "The shipment cannot be paid because it is delivered.",
      "pay: in_transit, paid": "The shipment cannot be paid because it is in transit.",
      "refund: awaiting_pickup, paid": "The shipment cannot be refunded because it is awaiting pickup.",
      "refund: cancelled, refunded": "The shipment cannot be refunded because its payment is already refunded.",
      "refund: cancelled, voided": "The shipment cannot be refunded because its payment is voided.",
      "refund: delivered, paid": "The shipment cannot be refunded because it is delivered.",
      "refund: in_transit, paid": "The shipment cannot be refunded because it is in transit.",
      "refund: pending, awaiting_payment": "The shipment cannot be refunded because it is pending.",
    }
  `);
});
