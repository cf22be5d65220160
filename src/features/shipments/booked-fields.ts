import { type DescField, type DescMessage, type Message, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import { compileEnumName } from "../../json/records.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { Shipment } from "./shipment.entity.ts";

/** Fields that are not copied, because they determine the price or are merged. */
type OtherField = "pickupLat" | "pickupLng" | "dropoffLat" | "dropoffLng" | "weightKg" | "metadata";

/** Columns of a shipment that have a request field of the same name. */
type BookedFields<Request> = Pick<ShipmentRow, Exclude<keyof Request & keyof ShipmentRow, OtherField>>;

/**
 * Compiles a function that copies a shipment's texts, whole numbers, enums and lists from a request.
 *
 * @returns function of the request and, for an update, the current row. Fields that the request omits keep their
 * value, or have the column's default in a booking. An empty text and a cleared list get the default, too.
 */
export function compileBookedFields<Desc extends DescMessage>(schema: Desc) {
  const { properties } = Shipment.init().meta;
  const fields = ShipmentSchema.fields
    .filter((field) => field.localName in properties && isCopied(field))
    .flatMap((field) => schema.fields.find(({ name }) => name === field.name) ?? [])
    .map((field) => {
      const { name, localName } = field;
      const column = properties[localName as keyof typeof properties]!;
      const empty = field.fieldKind === "list" ? [] : ((column.default as unknown) ?? null);
      return { name, localName: localName as keyof ShipmentRow, read: readerOf(field), empty };
    });
  return (request: object, before?: ShipmentRow) => {
    const sent = request as Readonly<Record<string, unknown>>;
    const { clear = [] } = sent as { readonly clear?: readonly string[] };
    const values = fields.map(({ name, localName, read, empty }) => {
      const kept = before === undefined || clear.includes(name) ? empty : before[localName];
      const value = read(sent[localName] as never) ?? kept;
      return [localName, value === "" ? empty : value];
    });
    return Object.fromEntries(values) as BookedFields<MessageShape<Desc>>;
  };
}

function isCopied({ fieldKind, scalar }: DescField): boolean {
  return fieldKind === "list" || fieldKind === "enum" || scalar === ScalarType.STRING || scalar === ScalarType.INT32;
}

/** Returns the conversion of a field's value to its stored form. Unset values become `undefined`. */
function readerOf(field: DescField): (sent: never) => unknown {
  if (field.fieldKind === "enum") return compileEnumName(field.enum);
  if (field.fieldKind !== "list" || field.listKind !== "message") return (sent: unknown) => sent;
  const names = field.message.fields.map(({ localName }) => localName);
  const recordOf = (item: Message) =>
    Object.fromEntries(names.map((name) => [name, (item as unknown as Record<string, unknown>)[name] ?? null]));
  return (sent: readonly Message[]) => (sent.length === 0 ? undefined : sent.map(recordOf));
}
