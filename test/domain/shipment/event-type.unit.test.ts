import { expect, test } from "vitest";
import { EVENT_TYPES, shipmentEventTypes } from "../../../src/domain/shipment/event-type.ts";
import { NO_PAYMENT_DETAILS } from "../../../src/domain/shipment/payment-details.ts";
import { type ShipmentState } from "../../../src/domain/shipment/shipment-state.ts";

const state = (text: string): ShipmentState => {
  const [status, paymentStatus] = text.split(" ");
  return { status, paymentStatus } as ShipmentState;
};

test.for([
  ["pending awaiting_payment", "awaiting_pickup paid", "shipment.paid shipment.awaiting_pickup"],
  ["awaiting_pickup paid", "in_transit paid", "shipment.in_transit"],
  ["in_transit paid", "delivered paid", "shipment.delivered"],
  ["pending awaiting_payment", "cancelled voided", "shipment.cancelled"],
  ["awaiting_pickup paid", "cancelled refund_pending", "shipment.cancelled"],
  ["cancelled voided", "cancelled refund_pending", "shipment.paid"],
  ["cancelled refund_pending", "cancelled refunded", "shipment.refunded"],
  ["pending awaiting_payment", "pending awaiting_payment", "shipment.updated"],
] as const)("the transition from %s to %s writes the events %s", ([before, after, types]) => {
  expect(shipmentEventTypes(state(before), state(after)).join(" ")).toBe(types);
});

test("the protocol and the code name the same types", async () => {
  const { ListEventsRequestSchema } = await import("../../../gen/shipments/v1/event_service_pb.js");
  const { CreateWebhookRequestSchema } = await import("../../../gen/shipments/v1/webhook_service_pb.js");
  const { getOption } = await import("@bufbuild/protobuf");
  const { field } = await import("../../../gen/buf/validate/validate_pb.js");
  const named = (schema: typeof ListEventsRequestSchema | typeof CreateWebhookRequestSchema) => {
    const rules = getOption(
      schema.fields.find((it) => it.name === "types")!,
      field,
    );
    const items = rules.type.case === "repeated" ? rules.type.value.items : undefined;
    return items?.type.case === "string" ? items.type.value.in : undefined;
  };
  expect(named(ListEventsRequestSchema)).toEqual([...EVENT_TYPES]);
  expect(named(CreateWebhookRequestSchema)).toEqual(["*", ...EVENT_TYPES]);
});

const PAID = { status: "awaiting_pickup", paymentStatus: "paid" } as const;
test("a full refund does not also write a partial refund event", () => {
  const before = { status: "cancelled", paymentStatus: "refund_pending" } as const;
  const paymentDetails = { ...NO_PAYMENT_DETAILS, refundedMinor: 1 };
  const after = { ...before, paymentStatus: "refunded", paymentDetails } as const;
  expect(shipmentEventTypes(before, after)).toEqual(["shipment.refunded"]);
});

const checkout = { url: "https://checkout.example.org/1", expiresAtMs: 0 };

test.for([
  [{ checkout }, "shipment.checkout_opened"],
  [{ processing: true }, "shipment.payment_processing"],
  [{ error: "declined" }, "shipment.payment_failed"],
  [{ refundedMinor: 1 }, "shipment.partly_refunded"],
  [{ refundError: "closed" }, "shipment.refund_failed"],
  [{ dispute: "open" }, "shipment.dispute_opened"],
  [{ dispute: "lost" }, "shipment.dispute_closed"],
  [{}, "shipment.updated"],
] as const)("the provider's report %j writes the event %s", ([change, type]) => {
  const paymentDetails = { ...NO_PAYMENT_DETAILS, ...change };
  expect(shipmentEventTypes(PAID, { ...PAID, paymentDetails })).toEqual([type]);
});
