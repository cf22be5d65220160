import { ENDS, type Ends } from "../../domain/route-ends.ts";
import type { BookedWindow } from "../../domain/schedule/decide-windows.ts";

/** Stored windows of a shipment, at least one of which is set. */
export interface StoredWindows {
  readonly pickup: StoredWindow | null;
  readonly dropoff: StoredWindow | null;
}

interface StoredWindow {
  /** Start in UTC, in RFC 3339 with milliseconds. */
  readonly start: string;
  readonly end: string;
  readonly timeZone: string;
  /** Fee at the time of the booking, in minor units. */
  readonly feeMinor: number;
  /** Schedule whose slot has a place for the shipment. Absent if the slot is unlimited. */
  readonly slot?: string;
}

export function storedWindows({ pickup, dropoff }: Ends<BookedWindow>): StoredWindows | null {
  if (pickup === undefined && dropoff === undefined) return null;
  return { pickup: storedWindow(pickup), dropoff: storedWindow(dropoff) };
}

function storedWindow(window: BookedWindow | undefined): StoredWindow | null {
  if (window === undefined) return null;
  const { startMs, endMs, timeZone, feeMinor, slot } = window;
  return {
    start: new Date(startMs).toISOString(),
    end: new Date(endMs).toISOString(),
    timeZone,
    feeMinor,
    ...(slot && { slot: slot.schedule }),
  };
}

export function bookedWindows(stored: StoredWindows | null): Ends<BookedWindow> {
  return { pickup: bookedWindow(stored?.pickup), dropoff: bookedWindow(stored?.dropoff) };
}

function bookedWindow(stored: StoredWindow | null | undefined): BookedWindow | undefined {
  if (!stored) return undefined;
  const { start, end, timeZone, feeMinor, slot } = stored;
  const span = { startMs: Date.parse(start), endMs: Date.parse(end) };
  return { ...span, timeZone, feeMinor, ...(slot !== undefined && { slot: { schedule: slot } }) };
}

/** Returns the fee of each window and the fees already charged for replaced windows, in minor units. */
export function windowFeesOf(row: {
  readonly windowFeeMinor: number;
  readonly windows: StoredWindows | null;
}): number[] {
  const fees = ENDS.map((end) => row.windows?.[end]?.feeMinor ?? 0);
  const ofOthers = fees.reduce((rest, feeMinor) => rest - feeMinor, row.windowFeeMinor);
  return [...fees, ofOthers];
}
