import { expect, test } from "vitest";
import { PaymentStatus, ShipmentStatus } from "../../gen/shipments/v1/shipment_pb.js";
import { PAYMENT_STATES, SHIPMENT_STATES, stateOf } from "../../src/dashboard/ui/shipment-states.ts";
import { STATES } from "../../src/domain/shipment/shipment-state.ts";

test("a state has one label and one color, whether derived from the shipment or the payment", () => {
  const states = STATES.map(({ status, paymentStatus }) => {
    const named = <E extends object>(values: E, name: string) => values[name.toUpperCase() as keyof E];
    return stateOf({
      status: named(ShipmentStatus, status) as ShipmentStatus,
      paymentStatus: named(PaymentStatus, paymentStatus) as PaymentStatus,
    });
  });
  expect(states).toEqual([
    ["To pay", "attention"],
    ["To pick up", "active"],
    ["In transit", "active"],
    ["Delivered", "good"],
    ["Returned", "neutral"],
    ["Cancelled", "neutral"],
    ["Refund due", "attention"],
    ["Refunded", "neutral"],
  ]);
  const labels = [...Object.values(SHIPMENT_STATES), ...Object.values(PAYMENT_STATES)];
  expect(new Set(labels.map(([word]) => word)).size).toBe(new Set(labels.map(String)).size);
  expect(PAYMENT_STATES[PaymentStatus.AWAITING_PAYMENT]).toBe(SHIPMENT_STATES[ShipmentStatus.PENDING]);
});
