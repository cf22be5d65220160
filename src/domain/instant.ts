import { invalidField } from "./refusal.ts";

interface TimestampLike {
  readonly seconds: bigint;
  readonly nanos: number;
}

/**
 * Latest supported time, 9999-12-31T23:59:59.999Z, in milliseconds since the epoch. Rounding up must not exceed it.
 */
const LAST_INSTANT = 253_402_300_799_999;

/**
 * Converts a timestamp to whole milliseconds since the epoch, the precision of stored times.
 *
 * @param round `Math.floor` for `after` filters, `Math.ceil` for `before` filters
 */
export function toInstantMs(
  timestamp: TimestampLike | undefined,
  round: (milliseconds: number) => number,
): number | undefined {
  if (timestamp === undefined) return undefined;
  const instant = Number(timestamp.seconds) * 1_000 + round(timestamp.nanos / 1_000_000);
  return Math.min(instant, LAST_INSTANT);
}

/**
 * Returns the creation time range of a list request in milliseconds since the epoch. Both bounds are exclusive.
 *
 * @throws Refusal FIELD_INVALID if the range is empty
 */
export function toCreationRange(request: {
  readonly createdAfter?: TimestampLike | undefined;
  readonly createdBefore?: TimestampLike | undefined;
}): { readonly createdAfter: number | undefined; readonly createdBefore: number | undefined } {
  const createdAfter = toInstantMs(request.createdAfter, Math.floor);
  const createdBefore = toInstantMs(request.createdBefore, Math.ceil);
  if (createdBefore! <= createdAfter!) {
    throw invalidField("created_before", "must be later than created_after.");
  }
  return { createdAfter, createdBefore };
}

/** Whether a value is a time from 1970 to 9999 in whole milliseconds since the epoch. */
export function isInstant(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 253_402_300_800_000;
}

/** Formats a time in milliseconds since the epoch as in responses, such as `2026-12-01T09:30:00.000Z`. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
