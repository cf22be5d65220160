import {
  ScalarType,
  type DescField,
  type DescMessage,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import {
  type NewTariffFees,
  NewTariffFeesSchema,
  NewTariffScheduleSchema,
  type NewTariffSchedules,
  NewTariffSchedulesSchema,
  NewWeeklyHoursSchema,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { isObject } from "../../../domain/faults.ts";
import type { RecordOf } from "../../../json/records.ts";

type Json = Readonly<Record<string, unknown>>;

/** Predicates by field type, which check whether a value in a document has the type. */
const FITS: Partial<Record<ScalarType, (value: unknown) => boolean>> = {
  [ScalarType.STRING]: (value) => typeof value === "string",
  [ScalarType.DOUBLE]: (value) => typeof value === "number",
  [ScalarType.INT32]: (value) => typeof value === "number" && (value | 0) === value,
  [ScalarType.BOOL]: (value) => typeof value === "boolean",
};

/** Converts a document to a message. Ignores values of the wrong type, because a draft can have errors. */
export function readDocument<Desc extends DescMessage>(
  schema: Desc,
  document: object,
): RecordOf<MessageShape<Desc>> & MessageInitShape<Desc> {
  const json = document as Json;
  const fields = schema.fields.map((field) => [field.localName, readField(field, json[field.name])]);
  return Object.fromEntries(fields) as RecordOf<MessageShape<Desc>> & MessageInitShape<Desc>;
}

function readField(field: DescField, value: unknown): unknown {
  const fits = FITS[field.scalar ?? ScalarType.STRING]!;
  if (field.fieldKind === "list") {
    const { message } = field;
    const items: readonly unknown[] = Array.isArray(value) ? value : [];
    if (message === undefined) return items.filter(fits);
    return items.filter(isObject).map((item) => readDocument(message, item));
  }
  if (fits(value)) return value;
  if (field.proto.proto3Optional) return undefined;
  return field.scalar === ScalarType.STRING ? "" : 0;
}

export function withFees(document: object, fees: NewTariffFees | undefined): object {
  return fees === undefined ? document : { ...document, ...written(NewTariffFeesSchema, fees) };
}

/** Returns a document with its schedules replaced. Omits empty schedules. */
export function withSchedules(document: object, newSchedules: NewTariffSchedules | undefined): object {
  if (newSchedules === undefined) return document;
  const { schedules: _, default_schedule: __, ...others } = document as Json;
  return { ...others, ...written(NewTariffSchedulesSchema, newSchedules) };
}

/** Lists that are written to a document even if they are empty. */
const LISTS: readonly DescField[] = [
  NewTariffFeesSchema.field.tiers,
  NewTariffScheduleSchema.field.hours,
  NewWeeklyHoursSchema.field.days,
];

/** Converts a message to a document. Omits empty values, so that validation reports them as missing. */
function written(schema: DescMessage, message: object): Json {
  const values = message as Json;
  return Object.fromEntries(
    schema.fields.flatMap((field) => {
      const value = values[field.localName];
      if (value === undefined || value === "") return [];
      if (!Array.isArray(value)) return [[field.name, value]];
      if (value.length === 0 && !LISTS.includes(field)) return [];
      const of = field.message;
      return [[field.name, of ? value.map((item: object) => written(of, item)) : value]];
    }),
  );
}
