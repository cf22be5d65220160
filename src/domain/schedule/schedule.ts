/** When pickups and dropoffs of the zones that name it take place. Times are of its time zone. */
export interface Schedule {
  /** Unique among the schedules of a tariff. */
  readonly name: string;
  /** An IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** The hours of each day of the week, Monday first. */
  readonly week: readonly (readonly Hours[])[];
  /** The hours of the dates that differ, by date (`2026-12-25`); none when closed. */
  readonly exceptions: Readonly<Record<string, readonly Hours[]>>;
  /** How long before its start a window has to be booked, 0 to 43,200. */
  readonly leadTimeMinutes: number;
  /** The last date that can be booked, in days from today, 1 to 366. */
  readonly horizonDays: number;
  /** How long slots are, 10 to 1,440; undefined when windows are free within the hours. */
  readonly slotMinutes: number | undefined;
  readonly cutOffs: readonly CutOff[];
  /** Whether a pickup can be booked without a window. */
  readonly asSoonAsPossible: boolean;
}

/** Opening hours that begin on a date. */
export interface Hours {
  /** Minutes of the local clock since midnight, 0 to 1,439. */
  readonly opensMinute: number;
  /** Above `opensMinute`; above 1,440 on the next date. */
  readonly closesMinute: number;
  /** What a window in them costs. */
  readonly feeMinor: number;
}

/** When windows that start at some hours of some days have to be booked at the latest. */
export interface CutOff {
  /** Whether it is for a day of the week, Monday first. */
  readonly days: readonly boolean[];
  /** For windows that start from here, in minutes of the local clock since midnight. */
  readonly fromMinute: number;
  /** And before this, up to 1,440. */
  readonly untilMinute: number;
  /** How many days before the date of the window. */
  readonly daysBefore: number;
  /** At which minute of that day's clock. */
  readonly atMinute: number;
}

/** The schedules of a tariff, and which of them is whose. */
export interface Scheduling {
  readonly schedules: readonly Schedule[];
  /** The place of each zone's schedule, in the order of the zones; -1 for none. */
  readonly ofZone: Int8Array<ArrayBuffer>;
}

export const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/** How many schedules a tariff may have; the place of each fits a byte. */
export const MAX_SCHEDULES = 100;
/** How long all schedules of a tariff may be together, as JSON, so that one answer holds them. */
export const MAX_SCHEDULES_CHARACTERS = 1_000_000;
export const MAX_EXCEPTIONS = 400;
export const MAX_WEEKLY_HOURS = 50;
export const MAX_HOURS_OF_DATE = 10;
export const MAX_CUT_OFFS = 20;
export const MIN_WINDOW_MINUTES = 10;
/** The longest window: the hours of a day whose clock is set back. */
export const MAX_WINDOW_MINUTES = 1_500;
export const MAX_SLOT_MINUTES = 1_440;
export const MAX_HORIZON_DAYS = 366;
/** How far ahead can be booked where a schedule does not say. */
export const DEFAULT_HORIZON_DAYS = 30;
