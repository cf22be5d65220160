import { ScalarType, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import { columnsOf } from "../../db/columns.ts";
import type { ShipmentRow } from "./shipment-row.ts";
import { Shipment } from "./shipment.entity.ts";

/** Text columns of a shipment that have a request field of the same name. */
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
 * Compiles a function that copies a shipment's texts from a request.
 *
 * @returns function of the request and, for an update, the current row. Texts that the request
 * omits keep their value. An empty text clears an optional one.
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
