import { describe, expect, test } from "vitest";
import { ACTS, type ActKind } from "../../src/courier/run/acts.ts";
import { type QueuedAct, readyActs, withQueued } from "../../src/courier/run/queue.ts";
import { verdictOf } from "../../src/courier/run/verdict.ts";
import { shipment } from "./shipment.ts";

const ME = "cou_1";
const CONFLICT = { code: "SHIPMENT_STATE", message: "The shipment cannot be advanced because it is cancelled." };

let seq = 0;
function queued(reference: string, kind: ActKind, fields: Partial<QueuedAct> = {}): QueuedAct {
  const calls = ACTS[kind].calls(fields.details ?? {}, shipment({ reference }));
  const at = "2026-11-28T10:00:00.000Z";
  const rest = { at, details: {}, hasPhoto: false, hasSignature: false, calls, sent: 0 };
  return { seq: ++seq, id: `key-${seq}`, courier: ME, kind, shipment: reference, ...rest, ...fields };
}

describe("queued actions are sent", () => {
  test("in order", () => {
    const acts = [queued("1", "pick_up"), queued("2", "pick_up"), queued("1", "deliver")];
    expect(readyActs(acts, ME)).toEqual(acts);
  });

  test("without those that depend on a conflict", () => {
    const acts = [
      queued("1", "pick_up", { conflict: CONFLICT }),
      queued("1", "deliver"),
      queued("2", "pick_up"),
      queued("1", "return"),
    ];
    expect(readyActs(acts, ME)).toEqual([acts[2]]);
  });

  test("without another courier's and the ones that depend on them", () => {
    const acts = [queued("1", "pick_up", { courier: "cou_2" }), queued("1", "deliver"), queued("2", "pick_up")];
    expect(readyActs(acts, ME)).toEqual([acts[2]]);
    expect(readyActs(acts, "cou_2")).toEqual([acts[0]]);
  });
});

describe("a shipment with queued actions", () => {
  const statusAfter = (...acts: QueuedAct[]) => withQueued([shipment({ reference: "1" })], acts, ME)[0];

  test("is shown as if they were confirmed", () => {
    expect(statusAfter(queued("1", "arrive_pickup"))).toEqual(shipment({ reference: "1", stage: "at_pickup" }));
    expect(statusAfter(queued("1", "pick_up"), queued("2", "deliver"))?.status).toBe("in_transit");
    expect(statusAfter(queued("1", "pick_up"), queued("1", "deliver"))?.status).toBe("delivered");
  });

  test("is shown without the actions after a conflict and those of other couriers", () => {
    const refused = queued("1", "deliver", { conflict: CONFLICT });
    expect(statusAfter(queued("1", "pick_up"), refused, queued("1", "return"))?.status).toBe("in_transit");
    expect(statusAfter(queued("1", "pick_up", { courier: "cou_2" }))?.status).toBe("awaiting_pickup");
  });

  test("is shown as delivered while only the proof is sent", () => {
    const delivered = queued("1", "deliver", { details: { photo: "AA==" }, sent: 1 });
    expect(statusAfter(queued("1", "pick_up"), delivered)?.status).toBe("delivered");
  });
});

test.each([
  ["no response", undefined, "retry"],
  ["success", [200, { data: {} }], "sent"],
  ["a hotspot's page", [200, undefined], "retry"],
  ["a proxy's refusal", [403, undefined], "retry"],
  ["a proxy's 404", [404, {}], "retry"],
  ["an expired session", [401, { code: "CREDENTIAL_REFUSED" }], "signed_out"],
  ["a suspended workspace", [403, { code: "WORKSPACE_SUSPENDED" }], "suspended"],
  ["a shipment of another courier", [404, { code: "SHIPMENT_NOT_FOUND" }], "conflict"],
  ["a state that forbids it", [422, { code: "SHIPMENT_STATE" }], "conflict"],
  ["a running retry", [409, { code: "IDEMPOTENCY_KEY_IN_USE" }], "retry"],
  ["too many requests", [429, { code: "RATE_LIMITED" }], "retry"],
  ["an overloaded service", [503, { code: "OVERLOADED" }], "retry"],
] as const)("%s means %3$s", (_, response, verdict) => {
  const answer = response && { status: response[0], body: response[1], retryAfterMs: undefined };
  expect(verdictOf(answer)).toBe(verdict);
});
