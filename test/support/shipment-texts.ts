import { ScalarType, type DescField } from "@bufbuild/protobuf";
import { ShipmentSchema } from "../../gen/shipments/v1/shipment_pb.js";
import {
  CreateShipmentRequestSchema,
  UpdateShipmentRequestSchema,
} from "../../gen/shipments/v1/shipment_service_pb.js";
import type { ShipmentRow } from "../../src/features/shipments/shipment-row.ts";

/** Optional text columns of a row, without generated ones. */
export type OptionalTexts = {
  [
    Name in keyof ShipmentRow as null extends ShipmentRow[Name]
      ? string extends ShipmentRow[Name]
        ? Exclude<Name, "createdBy" | "cancelNote" | "quoteId">
        : never
      : never
  ]: string | null;
};

const ofShipment = new Set(ShipmentSchema.fields.filter(isOptionalText).map(({ name }) => name));

/** Text fields that a booking sets and a shipment returns unchanged. */
export const SHIPMENT_TEXTS = CreateShipmentRequestSchema.fields.filter(
  ({ name }) => ofShipment.has(name) && name !== "quote_id",
);

/** Names of the text fields that an update can change. */
export const UPDATED_TEXTS = SHIPMENT_TEXTS.map(({ name }) => name).filter((name) =>
  UpdateShipmentRequestSchema.fields.some((field) => field.name === name),
);

/** Values for text fields with a required format. */
const OF_FORM: Readonly<Record<string, (n: number) => string>> = {
  pickup_contact_phone: (n) => `+1718555012${n}`,
  recipient_phone: (n) => `+1212555012${n}`,
  recipient_email: (n) => `r${n}@example.org`,
  recipient_locale: (n) => ["en", "de", "fr-CA"][n]!,
};

/** Returns one of three values for a text field. `n` is 0 to 2. */
export function sampleText(name: string, n: number): string {
  return OF_FORM[name]?.(n) ?? `${name} ${n}`;
}

export function hasForm(name: string): boolean {
  return name in OF_FORM;
}

function isOptionalText({ fieldKind, scalar, proto }: DescField): boolean {
  return fieldKind === "scalar" && scalar === ScalarType.STRING && proto.proto3Optional;
}
