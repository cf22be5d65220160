import fc from "fast-check";
import { expect, test } from "vitest";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import { createReference } from "../../../src/domain/shipment/shipment-reference.ts";
import type { End } from "../../../src/domain/route-ends.ts";
import { HANDOVERS, UNDELIVERABLE_ACTIONS } from "../../../src/domain/shipment/delivery-details.ts";
import type { AttemptReason } from "../../../src/domain/shipment/delivery-progress.ts";
import type { DisputeStatus } from "../../../src/domain/shipment/payment-details.ts";
import { CANCEL_REASONS, PAYMENTS_OF } from "../../../src/domain/shipment/shipment-state.ts";
import { parseTariff } from "../../../src/domain/pricing/tariff.ts";
import { inPipeline } from "../../../src/db/transaction.ts";
import { createFindShipment } from "../../../src/features/shipments/find-shipment.ts";
import { shipmentJson, shipmentMessage } from "../../../src/features/shipments/shipment-message.ts";
import type { ShipmentRow } from "../../../src/features/shipments/shipment-row.ts";
import { Shipment } from "../../../src/features/shipments/shipment.entity.ts";
import { insertShipments, updateShipments } from "../../../src/features/shipments/write-shipments.ts";
import { createVersionFees } from "../../../src/features/tariffs/versions/version-fees.ts";
import { compileEncodeJson } from "../../../src/json/encode-json.ts";
import { SAMPLE_TARIFF } from "../../support/tariffs.ts";
import { sharedService } from "../../support/service.ts";
import { type OptionalTexts, SHIPMENT_TEXTS } from "../../support/shipment-texts.ts";

const service = await sharedService();
const { id: workspace } = await service.addWorkspace();

const { zones: _, ...FEES } = parseTariff(SAMPLE_TARIFF).tariff!;
const encode = compileEncodeJson(ShipmentSchema);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
/** Arbitrary text that PostgreSQL can store. */
const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).filter((it) => !it.includes("\0"));
const coordinate = (most: number) => fc.double({ min: -most, max: most, noNaN: true }).map((it) => it + 0);
const minor = fc.nat({ max: 1e12 });
const instant = fc.date({
  min: new Date(0),
  max: new Date("2999-12-31T23:59:59.999Z"),
  noInvalidDate: true,
});
const state = fc.constantFrom(
  ...Object.entries(PAYMENTS_OF).flatMap(([status, payments]) =>
    payments.map((paymentStatus) => ({ status, paymentStatus })),
  ),
) as fc.Arbitrary<Pick<ShipmentRow, "status" | "paymentStatus">>;

const windowTime = instant.map((at) => at.toISOString());
const window = fc.record({
  start: windowTime,
  end: windowTime,
  timeZone: text,
  feeMinor: minor,
});

/** Arbitrary fields that a change can modify. */
const changing = fc
  .record({
    state,
    pickupAddress: text,
    pickupLat: coordinate(90),
    pickupLng: coordinate(180),
    dropoffAddress: text,
    dropoffLat: coordinate(90),
    dropoffLng: coordinate(180),
    dropoffZone: maybe(text),
    weightKg: fc.double({ min: 0.01, max: 1e6, noNaN: true }),
    distanceKm: fc.double({ min: 0, max: 20_000, noNaN: true }),
    distanceFeeMinor: minor,
    weightFeeMinor: minor,
    baseFeeMinor: minor,
    windowFeeMinor: minor,
    windows: maybe(fc.record({ pickup: maybe(window), dropoff: maybe(window) })),
    currency: fc.constantFrom("USD", "JPY", "KWD"),
    updatedAt: instant,
    cancelledAt: instant,
    cancelReason: maybe(fc.constantFrom(...CANCEL_REASONS)),
    cancelNote: maybe(text),
    packageCount: fc.integer({ min: 1, max: 100 }),
    items: fc.array(fc.record({ name: text, quantity: fc.nat(), externalId: maybe(text) })),
    dropoffHandover: fc.constantFrom(...HANDOVERS),
    ifUndeliverable: fc.constantFrom(...UNDELIVERABLE_ACTIONS),
    recipientEdits: fc.nat(),
    metadata: fc.dictionary(text, text, { noNullPrototype: true }),
    paymentDetails: maybe(
      fc.record({
        checkout: maybe(fc.record({ url: text, expiresAtMs: fc.nat() })),
        processing: fc.boolean(),
        error: maybe(text),
        refundError: maybe(text),
        refundedMinor: minor,
        disputedMinor: minor,
        uncounted: fc.nat(),
        dispute: maybe(fc.constantFrom<DisputeStatus>("open", "won", "lost")),
      }),
    ),
    endedAt: instant,
    progress: maybe(
      fc.record({
        courier: maybe(
          fc.record({
            name: text,
            phone: maybe(text),
            vehicle: maybe(text),
            externalId: maybe(text),
          }),
        ),
        arrivedAt: maybe(fc.constantFrom<End>("pickup", "dropoff")),
        etas: fc.record({ pickup: maybe(fc.nat()), dropoff: maybe(fc.nat()) }),
        announcedEtas: fc.record({ pickup: maybe(fc.nat()), dropoff: maybe(fc.nat()) }),
        attempts: fc.array(
          fc.record({
            end: fc.constantFrom<End>("pickup", "dropoff"),
            atMs: fc.nat(),
            reason: fc.constantFrom<AttemptReason>("nobody_there", "other"),
            note: maybe(text),
          }),
        ),
        wrongPins: fc.nat(),
        proof: fc.record({
          recordedAt: fc.nat(),
          receivedBy: maybe(text),
          note: maybe(text),
          pinVerified: fc.boolean(),
          photo: fc.boolean(),
          signature: fc.boolean(),
          waived: maybe(text),
        }),
      }),
    ),
    verification: maybe(
      fc.oneof(
        fc.record({ by: fc.constant("pin" as const), pin: text }),
        fc.record({ by: fc.constantFrom("photo" as const, "signature" as const) }),
      ),
    ),
    version: fc.nat(),
    eventCount: fc.nat(),
  })
  .map(({ state: { status, paymentStatus }, endedAt, ...row }) => {
    const isCancelled = status === "cancelled";
    const subtotalMinor = row.distanceFeeMinor + row.weightFeeMinor;
    return {
      ...row,
      status,
      paymentStatus,
      subtotalMinor,
      totalMinor: Math.max(subtotalMinor, row.baseFeeMinor) + row.windowFeeMinor,
      cancelledAt: isCancelled ? row.cancelledAt : null,
      cancelReason: isCancelled ? row.cancelReason : null,
      cancelNote: isCancelled ? row.cancelNote : null,
      deliveredAt: status === "delivered" ? endedAt : null,
      returnedAt: status === "returned" ? endedAt : null,
      tariff: 1,
      fees: FEES,
    };
  });

/** Fields that are empty directly after a booking. */
const NOTHING_YET = { paymentDetails: null, progress: null, deliveredAt: null, returnedAt: null };

const booked = fc.record({
  createdBy: maybe(text),
  createdAt: instant,
  texts: fc.record(
    Object.fromEntries(SHIPMENT_TEXTS.map(({ localName }) => [localName, maybe(fc.uuid())])),
  ) as fc.Arbitrary<OptionalTexts>,
  quoteId: maybe(fc.uuid()),
  customer: fc.record({ name: text, idNumber: maybe(text) }),
});

let customers = 1_000_000;
/** Adds new keys on each run, because fast-check repeats a failing case to shrink it. */
function withKeys<Fields>(fields: Fields, customer: Pick<ShipmentRow["customer"], "name" | "idNumber">) {
  const id = ++customers;
  return {
    ...fields,
    reference: createReference(),
    customer: { ...customer, id, email: `c${id}@example.org` },
  };
}

const LIVE = { test: false, trackingUrlOf: undefined };

test("a stored or changed shipment is read as the same row, entity, message and JSON", async () => {
  const { em } = service.app;
  const find = createFindShipment(em, () => () => undefined, createVersionFees(em));

  async function expectStored(row: ShipmentRow): Promise<void> {
    const { reference } = row;
    const found = await find({ workspace, reference });
    expect(found).toEqual(row);
    const { fees: _, ...stored } = row;
    const { customer, ...entity } = await em
      .fork()
      .findOneOrFail(Shipment, { workspace, reference }, { populate: ["customer"] });
    expect({ ...entity, customer: { ...row.customer, id: customer.id } }).toMatchObject(stored);
    expect(customer).toMatchObject(row.customer);
    expect(shipmentMessage(found, LIVE)).toEqual(shipmentMessage(row, LIVE));
    expect(shipmentJson(found, LIVE)).toEqual(encode(shipmentMessage(row, LIVE)));
  }

  await fc.assert(
    fc.asyncProperty(booked, changing, changing, async ({ texts, ...fixed }, first, changed) => {
      const fields = { ...fixed, ...texts, ...first, ...NOTHING_YET };
      const row = withKeys(fields, fixed.customer);
      const { customer } = row;
      const { email } = customer;
      const created = { createdAt: row.createdAt, emailLower: email, isNew: true };
      await inPipeline(em, async (tx) =>
        insertShipments(
          tx,
          workspace,
          [{ row, events: [], recipientMails: [] }],
          [{ ...customer, ...created }],
          new Date(),
        ),
      );
      await expectStored(row);
      const after = { ...row, ...changed };
      await inPipeline(em, async (tx) =>
        updateShipments(tx, workspace, [{ row: after, events: [], recipientMails: [] }]),
      );
      await expectStored(after);
    }),
    { numRuns: 50 },
  );
});
