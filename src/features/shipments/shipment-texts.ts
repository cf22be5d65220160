import { ScalarType, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import { columnsOf } from "../../db/columns.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { Shipment } from "./shipment.entity.ts";

/** The columns of a shipment that a request has as texts of the same name. */
type Texts<Request> = {
  [
    Name in keyof Request & keyof ShipmentRow as ShipmentRow[Name] extends string | null
      ? Request[Name] extends string | undefined
        ? Name
        : never
      : never
  ]: ShipmentRow[Name];
};

/**
 * Compiles what takes the texts of a shipment from a request as they are.
 *
 * @returns takes the row before an update, whose texts stay where the request has none; an empty one clears
 */
export function compileTexts<Desc extends DescMessage>(schema: Desc) {
  const columns = columnsOf(Shipment).map(({ property }) => property);
  const fields = ShipmentSchema.fields
    .filter(({ scalar, localName }) => scalar === ScalarType.STRING && columns.includes(localName))
    .filter(({ name }) => schema.fields.some((field) => field.name === name))
    .map(({ localName, proto }) => [localName as keyof ShipmentRow, proto.proto3Optional] as const);
  return (request: object, before?: ShipmentRow) => {
    const sent = request as Partial<Record<keyof ShipmentRow, string>>;
    const texts = fields.map(([name, isOptional]) => {
      const text = sent[name] ?? before?.[name];
      return [name, isOptional ? text || null : text];
    });
    return Object.fromEntries(texts) as Texts<MessageShape<Desc>>;
  };
}
