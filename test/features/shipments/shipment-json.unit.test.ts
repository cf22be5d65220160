import fc from "fast-check";
import { expect, test } from "vitest";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import { DISPUTE_STATUSES } from "../../../src/domain/shipment/payment-details.ts";
import {
  CANCEL_REASONS,
  PAYMENT_STATUSES,
  SHIPMENT_STATUSES,
} from "../../../src/domain/shipment/shipment-state.ts";
import { shipmentJson, shipmentMessage } from "../../../src/features/shipments/shipment-message.ts";
import type { ShipmentRow } from "../../../src/features/shipments/shipment-row.ts";
import { compileEncodeJson } from "../../../src/json/encode-json.ts";

const encode = compileEncodeJson(ShipmentSchema);

const text = fc.string({ unit: "grapheme" });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const lat = fc.double({ min: -90, max: 90, noNaN: true });
const lng = fc.double({ min: -180, max: 180, noNaN: true });
const positive = fc.double({ min: 0.01, max: 1e6, noNaN: true });
const minor = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const instant = fc.date({
  min: new Date(0),
  max: new Date(253_402_300_799_999),
  noInvalidDate: true,
});
const count = fc.nat();
const window = fc.record({
  start: instant.map((at) => at.toISOString()),
  end: instant.map((at) => at.toISOString()),
  timeZone: text,
  feeMinor: minor,
});

const row: fc.Arbitrary<ShipmentRow> = fc.record({
  reference: text,
  status: fc.constantFrom(...SHIPMENT_STATUSES),
  paymentStatus: fc.constantFrom(...PAYMENT_STATUSES),
  createdBy: maybe(text),
  pickupAddress: text,
  pickupLat: lat,
  pickupLng: lng,
  dropoffAddress: text,
  dropoffLat: lat,
  dropoffLng: lng,
  weightKg: positive,
  distanceKm: positive,
  distanceFeeMinor: minor,
  weightFeeMinor: minor,
  baseFeeMinor: minor,
  subtotalMinor: minor,
  totalMinor: minor,
  windowFeeMinor: minor,
  windows: maybe(fc.record({ pickup: maybe(window), dropoff: maybe(window) })),
  currency: fc.constantFrom("USD", "JPY", "KWD"),
  customer: fc.record({
    id: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    name: text,
    email: text,
    idNumber: maybe(text),
  }),
  createdAt: instant,
  updatedAt: instant,
  cancelledAt: maybe(instant),
  cancelReason: maybe(fc.constantFrom(...CANCEL_REASONS)),
  cancelNote: maybe(text),
  externalReference: maybe(text),
  metadata: fc.dictionary(text, text, { noNullPrototype: true }),
  paymentDetails: maybe(
    fc.record({
      checkout: maybe(fc.record({ url: text, expiresAtMs: fc.nat() })),
      processing: fc.boolean(),
      error: maybe(text),
      refundError: maybe(text),
      refundedMinor: minor,
      disputedMinor: minor,
      uncounted: count,
      dispute: maybe(fc.constantFrom(...DISPUTE_STATUSES)),
    }),
  ),
  version: count,
  eventCount: count,
  tariff: count,
  quoteId: maybe(text),
  fees: fc.record({
    currency: fc.constantFrom("USD", "JPY", "KWD"),
    minorDigits: fc.constant(2),
    baseFeeMinor: minor,
    ratePerKmMillionths: minor,
    tiers: fc.constantFrom(
      [],
      [{ minKg: 0, maxKg: 1e6, flatFeeMinor: 100, ratePerKgMillionths: 500_000 }],
    ),
    scheduling: fc.constant(undefined),
  }),
});

test("a shipment's JSON made from its row is the JSON of its message, to the byte", () => {
  fc.assert(
    fc.property(row, fc.boolean(), (shipment, isTest) => {
      const fromMessage = JSON.stringify(encode(shipmentMessage(shipment, { test: isTest })));
      expect(JSON.stringify(shipmentJson(shipment, { test: isTest }))).toBe(fromMessage);
    }),
    { numRuns: 1_000 },
  );
});
