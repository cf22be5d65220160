import { expect, test } from "vitest";
import { EVENT_TYPES } from "../../../src/domain/shipment/event-type.ts";
import {
  isStillSo,
  NOTICE_KINDS,
  noticeKinds,
} from "../../../src/domain/shipment/recipient-notice.ts";
import { STATES, type ShipmentState } from "../../../src/domain/shipment/shipment-state.ts";
import type { TrackedShipment } from "../../../src/domain/shipment/tracked-shipment.ts";

const notAnAttempt = (kind: string) => kind !== "attempt_failed";

test.each<[ShipmentState, readonly string[]]>([
  [{ status: "awaiting_pickup", paymentStatus: "paid" }, NOTICE_KINDS.filter(notAnAttempt)],
  [{ status: "in_transit", paymentStatus: "paid" }, NOTICE_KINDS],
  [{ status: "cancelled", paymentStatus: "refund_pending" }, NOTICE_KINDS.filter(notAnAttempt)],
  [{ status: "cancelled", paymentStatus: "voided" }, []],
])("of all that can happen to a shipment that is %j a recipient is told %j", (state, kinds) => {
  expect(noticeKinds(EVENT_TYPES, state)).toEqual(kinds);
});

test("nothing is told of other events", () => {
  const others = EVENT_TYPES.filter((type) =>
    NOTICE_KINDS.every((kind) => type !== `shipment.${kind}`),
  );
  expect(STATES.flatMap((state) => noticeKinds(others, state))).toEqual([]);
});

const FAILED = { atMs: 0, reason: "other" } as const;

test.each<[string, Pick<TrackedShipment, "status" | "stage" | "failed">, readonly string[]]>([
  [
    "paid",
    { status: "awaiting_pickup", stage: "assigned", failed: undefined },
    ["awaiting_pickup"],
  ],
  ["on its way", { status: "in_transit", stage: undefined, failed: undefined }, ["in_transit"]],
  ["at the door", { status: "in_transit", stage: "at_dropoff", failed: undefined }, ["at_dropoff"]],
  [
    "not handed over",
    { status: "in_transit", stage: undefined, failed: FAILED },
    ["attempt_failed"],
  ],
  ["delivered", { status: "delivered", stage: undefined, failed: undefined }, ["delivered"]],
  ["unpaid", { status: "pending", stage: undefined, failed: undefined }, []],
])("of a shipment that is %s one notice holds", (_, state, kinds) => {
  expect(NOTICE_KINDS.filter((kind) => isStillSo(kind, state as TrackedShipment))).toEqual(kinds);
});
