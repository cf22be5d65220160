/** Schedule of pickups and dropoffs in the zones that refer to it. Times are in its time zone. */
export interface Schedule {
  /** Unique among the schedules of a tariff. */
  readonly name: string;
  /** IANA time zone, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** Opening hours of each weekday, Monday first. */
  readonly week: readonly (readonly Hours[])[];
  /** Opening hours of special dates, by date (`2026-12-25`). Empty if closed. */
  readonly exceptions: Readonly<Record<string, readonly Hours[]>>;
  /** Minimum time between booking and the start of a window, 0 to 43,200. */
  readonly leadTimeMinutes: number;
  /** Last bookable date, in days from today, 1 to 366. */
  readonly horizonDays: number;
  /** Length of slots, 10 to 1,440. `undefined` if any window within the hours can be booked. */
  readonly slotMinutes: number | undefined;
  readonly cutOffs: readonly CutOff[];
  /** Whether a pickup can be booked without a window. */
  readonly asSoonAsPossible: boolean;
}

/** Opening hours that begin on a date. */
export interface Hours {
  /** Local minutes since midnight, 0 to 1,439. */
  readonly opensMinute: number;
  /** Above `opensMinute`. Above 1,440 for the next date. */
  readonly closesMinute: number;
  /** Fee of a window in these hours. */
  readonly feeMinor: number;
}

/** Booking deadline of windows that start at certain times of certain days. */
export interface CutOff {
  /** Whether it applies to a weekday, Monday first. */
  readonly days: readonly boolean[];
  /** Earliest start of its windows, in local minutes since midnight. */
  readonly fromMinute: number;
  /** End of their starts, exclusive, up to 1,440. */
  readonly untilMinute: number;
  /** Days before the date of the window. */
  readonly daysBefore: number;
  /** Local minute of that day. */
  readonly atMinute: number;
}

/** The schedules of a tariff and their zones. */
export interface Scheduling {
  readonly schedules: readonly Schedule[];
  /** Schedule index of each zone, in the order of the zones. -1 for none. */
  readonly ofZone: Int8Array<ArrayBuffer>;
}

export const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/** Maximum number of schedules in a tariff. An index fits in a byte. */
export const MAX_SCHEDULES = 100;
/** Maximum length of all schedules of a tariff as JSON, so that one response contains them. */
export const MAX_SCHEDULES_CHARACTERS = 1_000_000;
export const MAX_EXCEPTIONS = 400;
export const MAX_WEEKLY_HOURS = 50;
export const MAX_HOURS_OF_DATE = 10;
export const MAX_CUT_OFFS = 20;
export const MIN_WINDOW_MINUTES = 10;
/** Longest window: the hours of a day whose clock is set back. */
export const MAX_WINDOW_MINUTES = 1_500;
export const MAX_SLOT_MINUTES = 1_440;
export const MAX_HORIZON_DAYS = 366;
/** Default booking horizon in days. */
export const DEFAULT_HORIZON_DAYS = 30;
