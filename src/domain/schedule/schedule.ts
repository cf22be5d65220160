/** Schedule for pickups and dropoffs in the zones that refer to it. All times are in its time zone. */
export interface Schedule {
  /** Unique among the schedules of a tariff. */
  readonly name: string;
  /** IANA time zone, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** Opening hours of each weekday, Monday first. */
  readonly week: readonly (readonly Hours[])[];
  /** Opening hours of special dates, by date (`2026-12-25`). Empty if closed on that date. */
  readonly exceptions: Readonly<Record<string, readonly Hours[]>>;
  /** Minimum time between the booking and the start of a window, 0 to 43,200. */
  readonly leadTimeMinutes: number;
  /** Number of days from today to the last date that can be booked, 1 to 366. */
  readonly horizonDays: number;
  /** Length of slots, 10 to 1,440. `undefined` if any window within the opening hours can be booked. */
  readonly slotMinutes: number | undefined;
  readonly cutOffs: readonly CutOff[];
  /** Whether a pickup can be booked without a window. */
  readonly asSoonAsPossible: boolean;
  /** Capacity of the slots. `undefined` if no slot is counted. */
  readonly capacity: SlotCapacity | undefined;
}

export const CAPACITY_UNITS = ["shipments", "kilograms"] as const;
export type CapacityUnit = (typeof CAPACITY_UNITS)[number];

/** Limits for the shipments that are picked up or dropped off in a slot. A schedule with them counts its slots. */
export interface SlotCapacity {
  /** Capacity of a slot. `undefined` if only the slots of some dates are limited. */
  readonly perSlot: number | undefined;
  readonly unit: CapacityUnit;
  /** Capacity of a slot by date (`2026-12-25`), for dates that differ. */
  readonly onDates: Readonly<Record<string, number>>;
  /** Time to pay for a shipment in a limited slot, in minutes. `undefined` for unlimited. */
  readonly payWithinMinutes: number | undefined;
  /** Amount above which a slot without a capacity needs an operator's attention. `undefined` for none. */
  readonly attentionAbove: number | undefined;
}

/** Opening hours that begin on a date. */
export interface Hours {
  /** Local minutes since midnight, 0 to 1,439. */
  readonly opensMinute: number;
  /**
   * Local minutes since midnight of the opening date. More than `opensMinute`, and more than 1,440
   * if the hours end on the next date.
   */
  readonly closesMinute: number;
  /** Fee for a window within these hours, in minor units. */
  readonly feeMinor: number;
}

/** Booking deadline for windows that start on given weekdays within a given time range. */
export interface CutOff {
  /** Whether the deadline applies to each weekday, Monday first. */
  readonly days: readonly boolean[];
  /** Earliest start of the affected windows, in local minutes since midnight. */
  readonly fromMinute: number;
  /** Exclusive upper bound for the start of the affected windows, up to 1,440. */
  readonly untilMinute: number;
  /** Number of days from the deadline to the date of the window. */
  readonly daysBefore: number;
  /** Time of the deadline, in local minutes since midnight. */
  readonly atMinute: number;
}

export interface Scheduling {
  readonly schedules: readonly Schedule[];
  /** Schedule index of each zone, in the order of the zones. -1 for a zone without a schedule. */
  readonly ofZone: Int8Array<ArrayBuffer>;
}

export const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/** Maximum number of schedules in a tariff, so that an index fits in a signed byte. */
export const MAX_SCHEDULES = 100;
/** Maximum length of a tariff's schedules as JSON, in characters, so that they fit in one response. */
export const MAX_SCHEDULES_CHARACTERS = 1_000_000;
export const MAX_EXCEPTIONS = 400;
export const MAX_WEEKLY_HOURS = 50;
export const MAX_HOURS_OF_DATE = 10;
export const MAX_CUT_OFFS = 20;
export const MIN_WINDOW_MINUTES = 10;
/** Maximum length of a window: a day whose clock is set back by an hour. */
export const MAX_WINDOW_MINUTES = 1_500;
export const MAX_SLOT_MINUTES = 1_440;
export const MAX_CAPACITY = 100_000;
/** Minimum and maximum of `payWithinMinutes`. */
export const PAY_WITHIN_MINUTES = [10, 10_080] as const;
export const MAX_HORIZON_DAYS = 366;
export const DEFAULT_HORIZON_DAYS = 30;
