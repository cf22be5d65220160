import { expect, test } from "vitest";
import {
  CancelReasonSchema,
  DisputeStatusSchema,
  PaymentStatusSchema,
  ShipmentSchema,
  ShipmentStatusSchema,
} from "../../gen/shipments/v1/shipment_pb.js";
import { CustomerSchema } from "../../gen/shipments/v1/customer_pb.js";
import type { DisputeStatus } from "../../src/domain/shipment/payment-details.ts";
import { CANCEL_REASONS, PAYMENT_STATUSES, SHIPMENT_STATUSES } from "../../src/domain/shipment/shipment-state.ts";
import { compileEncodeJson } from "../../src/json/encode-json.ts";
import { compileEnumName, compileEnumNumber, compileToJson, compileToMessage } from "../../src/json/records.ts";

const toMessage = compileToMessage(ShipmentSchema);
const toJson = compileToJson(ShipmentSchema);
const encode = compileEncodeJson(ShipmentSchema);

type Shipment = Parameters<typeof toMessage>[0];

/** Record in which every field is null. */
const NOTHING = Object.fromEntries(
  [ShipmentSchema, CustomerSchema].flatMap(({ fields }) => fields.map((field) => [field.localName, null])),
) as unknown as Shipment & NonNullable<Shipment["customer"]>;
const CUSTOMER = { ...NOTHING, id: 2 ** 53 - 1, name: "Ada", email: "ada@example.org" };

/** Record in which only required fields are set: lists and maps are empty. */
const LEAST: Shipment = {
  ...NOTHING,
  ...Object.fromEntries(
    ShipmentSchema.fields.flatMap(({ fieldKind, localName }) =>
      fieldKind === "list" ? [[localName, []]] : fieldKind === "map" ? [[localName, {}]] : [],
    ),
  ),
  status: "pending",
  paymentStatus: "paid",
};

test.each<[name: string, more: Partial<Shipment> & Record<string, unknown>]>([
  ["only required fields and an unknown property", { beside: 1 }],
  ["undefined for unset fields", { cancelNote: undefined, customer: undefined }],
  ["numbers", { weightKg: 1.25, pickupLat: -0.5 }],
  ["names of enums", { status: "awaiting_pickup", cancelReason: "other" }],
  ["maps", { metadata: { a: "b", "": "\u0000" } }],
  ["messages", { customer: CUSTOMER }],
  ["lists", { breakdown: [{ kind: "distance", unit: "km", quantity: 1, rate: 2, amount: 3 }] }],
  ["a date", { createdAt: new Date("2026-01-31T09:30:00.001Z") }],
  ["milliseconds", { createdAt: 1 }],
  ["RFC 3339", { createdAt: "2026-01-31T09:30:00.001Z" }],
])("encodes a record with %s like its message", (_, more) => {
  const record = { ...LEAST, ...more };
  const message = encode(toMessage(record));
  expect(JSON.stringify(toJson(record))).toBe(JSON.stringify(message));
});

test("an unknown enum name is an error", () => {
  expect(() => toMessage({ ...LEAST, status: "lost" })).toThrow("has no value lost");
});

test.each([
  [ShipmentStatusSchema, SHIPMENT_STATUSES],
  [PaymentStatusSchema, PAYMENT_STATUSES],
  [CancelReasonSchema, CANCEL_REASONS],
  [DisputeStatusSchema, ["open", "won", "lost"] satisfies DisputeStatus[]],
])("the enum has every stored value of %s", (desc, names) => {
  const [numberOf, nameOf] = [compileEnumNumber<number>(desc), compileEnumName(desc)];
  expect(names.map((name) => nameOf(numberOf(name)))).toEqual(names);
});
