import { create, ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { EventSchema, type Event } from "../../gen/shipments/v1/event_pb.js";

/**
 * Decodes the event in a webhook's body, which is JSON as in `/v1`. Ignores unknown fields and enum
 * values of newer services.
 *
 * @throws TypeError if the JSON does not contain an event
 */
export function decodeEvent(json: unknown): Event {
  const event = create(EventSchema, decodeMessage(EventSchema, json) as { id: string });
  if (!event.id || !event.type) throw new TypeError("an event has an id and a type");
  return event;
}

function decodeMessage(schema: DescMessage, json: unknown): object {
  if (schema.typeName === "google.protobuf.Timestamp") {
    return timestampFromDate(new Date(json as string));
  }
  const fields = json as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    schema.fields
      .filter(({ name }) => (fields[name] ?? null) !== null)
      .map((field) => [field.localName, decodeField(field, fields[field.name])]),
  );
}

function decodeField(field: DescField, json: unknown): unknown {
  if (field.fieldKind === "list") {
    return (json as unknown[]).map((each) => decodeValue(field, each));
  }
  if (field.fieldKind === "map") {
    const entries = Object.entries(json as object);
    return Object.fromEntries(entries.map(([key, value]) => [key, decodeValue(field, value)]));
  }
  return decodeValue(field, json);
}

function decodeValue({ message, enum: names, scalar }: DescField, json: unknown): unknown {
  if (message !== undefined) return decodeMessage(message, json);
  if (names !== undefined) {
    const isNamed = ({ localName }: { localName: string }) => localName.toLowerCase() === json;
    return names.values.find(isNamed)?.number ?? 0;
  }
  return scalar === ScalarType.INT64 ? BigInt(json as number) : json;
}
