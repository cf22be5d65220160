import { ScalarType, type DescField } from "@bufbuild/protobuf";
import { ShipmentSchema } from "../../gen/shipments/v1/shipment_pb.js";
import {
  CreateShipmentRequestSchema,
  UpdateShipmentRequestSchema,
} from "../../gen/shipments/v1/shipment_service_pb.js";
import type { ShipmentRow } from "../../src/features/shipments/shipment-row.ts";

/** What a row has as texts that may be unset, but for those of which the service makes the value. */
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

/** The texts that a booking may give a shipment and that it shows as they are, as fields of the booking. */
export const SHIPMENT_TEXTS = CreateShipmentRequestSchema.fields.filter(
  ({ name }) => ofShipment.has(name) && name !== "quote_id",
);

/** The names of those that an update changes. */
export const UPDATED_TEXTS = SHIPMENT_TEXTS.map(({ name }) => name).filter((name) =>
  UpdateShipmentRequestSchema.fields.some((field) => field.name === name),
);

function isOptionalText({ fieldKind, scalar, proto }: DescField): boolean {
  return fieldKind === "scalar" && scalar === ScalarType.STRING && proto.proto3Optional;
}
