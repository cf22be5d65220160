import {
  ScalarType,
  type DescField,
  type DescMessage,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import type {
  NewDateHours,
  NewTariffSchedule,
  NewTariffSchedules,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { isObject } from "../../../domain/faults.ts";
import type { RecordOf } from "../../../json/records.ts";

type Json = Readonly<Record<string, unknown>>;

/** Whether a value of a document is what a field takes. */
const FITS: Partial<Record<ScalarType, (value: unknown) => boolean>> = {
  [ScalarType.STRING]: (value) => typeof value === "string",
  [ScalarType.DOUBLE]: (value) => typeof value === "number",
  [ScalarType.INT32]: (value) => typeof value === "number" && (value | 0) === value,
  [ScalarType.BOOL]: (value) => typeof value === "boolean",
};

/** What a message has of a document, as far as it is of the right type: that of a draft need not be. */
export function readDocument<Desc extends DescMessage>(
  schema: Desc,
  document: object,
): RecordOf<MessageShape<Desc>> & MessageInitShape<Desc> {
  const json = document as Json;
  const fields = schema.fields.map((field) => [
    field.localName,
    readField(field, json[field.name]),
  ]);
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

/**
 * A document with other schedules and everything else as it was. What is empty is left out, so that a
 * document without schedules is as one that never had any.
 */
export function withSchedules(document: object, given: NewTariffSchedules | undefined): object {
  if (given === undefined) return document;
  const { schedules: _, default_schedule: __, ...others } = document as Json;
  return {
    ...others,
    ...(given.schedules.length === 0 ? {} : { schedules: given.schedules.map(scheduleJson) }),
    ...(given.defaultSchedule === "" ? {} : { default_schedule: given.defaultSchedule }),
  };
}

function scheduleJson(schedule: NewTariffSchedule): Json {
  return {
    name: schedule.name || undefined,
    time_zone: schedule.timeZone || undefined,
    hours: schedule.hours.map((hours) => ({ days: hours.days, ...hoursJson(hours) })),
    exceptions: listJson(schedule.exceptions, ({ date, hours, note }) => ({
      date: date || undefined,
      hours: listJson(hours, hoursJson),
      note: note || undefined,
    })),
    lead_time_minutes: schedule.leadTimeMinutes,
    horizon_days: schedule.horizonDays,
    slot_minutes: schedule.slotMinutes,
    cut_offs: listJson(schedule.cutOffs, ({ days, from, until, daysBefore, at }) => ({
      days: days.length === 0 ? undefined : days,
      from: from || undefined,
      until: until || undefined,
      days_before: daysBefore,
      at: at || undefined,
    })),
    as_soon_as_possible: schedule.asSoonAsPossible,
  };
}

function hoursJson({ opens, closes, fee }: Pick<NewDateHours, "opens" | "closes" | "fee">): Json {
  return { opens: opens || undefined, closes: closes || undefined, fee: fee || undefined };
}

function listJson<Item>(items: readonly Item[], toJson: (item: Item) => Json): Json[] | undefined {
  return items.length === 0 ? undefined : items.map((item) => toJson(item));
}
