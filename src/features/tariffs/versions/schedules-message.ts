import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TariffSchedulesSchema } from "../../../../gen/shipments/admin/v1/tariff_pb.js";
import type {
  NewDateHours,
  NewTariffSchedule,
  NewTariffSchedules,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { isObject } from "../../../domain/faults.ts";

type Json = Readonly<Record<string, unknown>>;

/** The schedules of a document, as far as they are of the right type: those of a draft need not be. */
export function schedulesMessage(document: object): MessageInitShape<typeof TariffSchedulesSchema> {
  const { schedules, default_schedule } = document as Json;
  return {
    defaultSchedule: textOf(default_schedule),
    schedules: objectsOf(schedules).map((schedule) => ({
      name: textOf(schedule.name),
      timeZone: textOf(schedule.time_zone),
      hours: objectsOf(schedule.hours).map((hours) => ({
        ...hoursMessage(hours),
        days: textsOf(hours.days),
      })),
      exceptions: objectsOf(schedule.exceptions).map((exception) => ({
        date: textOf(exception.date),
        hours: objectsOf(exception.hours).map(hoursMessage),
        note: textOf(exception.note),
      })),
      leadTimeMinutes: wholeOf(schedule.lead_time_minutes),
      horizonDays: wholeOf(schedule.horizon_days),
      slotMinutes: wholeOf(schedule.slot_minutes),
      cutOffs: objectsOf(schedule.cut_offs).map((cutOff) => ({
        days: textsOf(cutOff.days),
        from: textOf(cutOff.from),
        until: textOf(cutOff.until),
        daysBefore: wholeOf(cutOff.days_before),
        at: textOf(cutOff.at),
      })),
      asSoonAsPossible: flagOf(schedule.as_soon_as_possible),
    })),
  };
}

function hoursMessage(hours: Json) {
  return { opens: textOf(hours.opens), closes: textOf(hours.closes), fee: textOf(hours.fee) };
}

function objectsOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** What fits an int32. */
function wholeOf(value: unknown): number | undefined {
  return typeof value === "number" && (value | 0) === value ? value : undefined;
}

function flagOf(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
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
