import { expect, test } from "vitest";
import { NO_PROGRESS } from "../../../src/domain/shipment/delivery-progress.ts";
import { EVENT_TYPES } from "../../../src/domain/shipment/event-type.ts";
import {
  dueRecipientMails,
  kindOf,
  RECIPIENT_MAIL_KINDS,
  type RecipientMailFacts,
} from "../../../src/domain/shipment/recipient-mail.ts";
import { STATES, type ShipmentState } from "../../../src/domain/shipment/shipment-state.ts";
import type { TrackedShipment } from "../../../src/domain/shipment/tracked-shipment.ts";

const stateOf = (state: Partial<RecipientMailFacts>): RecipientMailFacts => ({
  status: "in_transit",
  paymentStatus: "paid",
  recipientEmail: "grace@example.org",
  verification: { by: "pin", pin: "0001" },
  ...state,
});

const notAnAttempt = (kind: string) => kind !== "attempt_failed";

test.each<[ShipmentState, readonly string[]]>([
  [{ status: "awaiting_pickup", paymentStatus: "paid" }, RECIPIENT_MAIL_KINDS.filter(notAnAttempt)],
  [{ status: "in_transit", paymentStatus: "paid" }, RECIPIENT_MAIL_KINDS],
  [{ status: "cancelled", paymentStatus: "refund_pending" }, RECIPIENT_MAIL_KINDS.filter(notAnAttempt)],
  [{ status: "cancelled", paymentStatus: "voided" }, []],
])("the events of a shipment that is %j send the recipient the emails %j", (state, kinds) => {
  expect(dueRecipientMails(EVENT_TYPES, undefined, stateOf(state))).toEqual(
    kinds.map((kind) => ({ kind, again: kind === "attempt_failed" })),
  );
});

test("other events send no email", () => {
  const others = EVENT_TYPES.filter((type) => RECIPIENT_MAIL_KINDS.every((kind) => type !== `shipment.${kind}`));
  const mails = STATES.map(stateOf).flatMap((state) => dueRecipientMails(others, state, state));
  expect(mails).toEqual([]);
});

const FAILED = { atMs: 0, reason: "other" } as const;

test.each<[string, Pick<TrackedShipment, "status" | "stage" | "failed">, string | undefined]>([
  ["paid", { status: "awaiting_pickup", stage: "assigned", failed: undefined }, "awaiting_pickup"],
  ["on its way", { status: "in_transit", stage: undefined, failed: undefined }, "in_transit"],
  ["at the door", { status: "in_transit", stage: "at_dropoff", failed: undefined }, "at_dropoff"],
  ["not handed over", { status: "in_transit", stage: undefined, failed: FAILED }, "attempt_failed"],
  ["delivered", { status: "delivered", stage: undefined, failed: undefined }, "delivered"],
  ["unpaid", { status: "pending", stage: undefined, failed: undefined }, undefined],
])("only one email applies to a shipment that is %s", (_, state, kind) => {
  expect(kindOf(state)).toBe(kind);
});

const ATTEMPT = { end: "dropoff", atMs: 0, reason: "other", note: null } as const;

test.each<[string, Partial<RecipientMailFacts>, Partial<RecipientMailFacts>, readonly string[]]>([
  ["another email", { recipientEmail: "ada@example.org" }, {}, ["in_transit"]],
  ["its first email", { recipientEmail: null }, {}, ["in_transit"]],
  ["its first PIN", { verification: null }, {}, ["in_transit"]],
  ["another PIN", { verification: { by: "pin", pin: "0002" } }, {}, ["in_transit"]],
  ["its PIN removed", {}, { verification: { by: "photo" } }, []],
  ["another vehicle", {}, { progress: NO_PROGRESS }, []],
  [
    "another email after a failed attempt",
    { recipientEmail: null },
    { progress: { ...NO_PROGRESS, attempts: [ATTEMPT] } },
    ["attempt_failed"],
  ],
  [
    "another email with the courier at the door",
    { recipientEmail: null },
    { progress: { ...NO_PROGRESS, arrivedAt: "dropoff" } },
    ["at_dropoff"],
  ],
  ["another email before it is paid", { recipientEmail: null }, { status: "pending" }, []],
  ["another email in a final state", { recipientEmail: null }, { status: "delivered" }, []],
])("sends the current state again if the shipment has %s", (_, before, after, kinds) => {
  const again = kinds.map((kind) => ({ kind, again: true }));
  const types = ["shipment.updated"] as const;
  expect(dueRecipientMails(types, stateOf({ ...after, ...before }), stateOf(after))).toEqual(again);
});
