import type { HrTime } from "@opentelemetry/api";

/** The time of day at an instant on the clock of `performance.now()`, in seconds and nanoseconds. */
export type TimeOfDay = (ms: number) => HrTime;

/** How often the two clocks are compared, in milliseconds; one is corrected while the process runs. */
const COMPARE_MS = 60_000;

/**
 * Builds the conversion. All spans of a process share it, since spans that each compared the clocks,
 * of which one counts whole milliseconds, could seem to begin before their parents.
 */
export function createTimeOfDay(): TimeOfDay {
  let comparedMs = -Infinity;
  let offsetMs = 0;
  return (ms) => {
    const nowMs = performance.now();
    if (nowMs - comparedMs > COMPARE_MS) {
      comparedMs = nowMs;
      offsetMs = Date.now() - nowMs;
    }
    const epochMs = ms + offsetMs;
    const seconds = Math.floor(epochMs / 1_000);
    return [seconds, Math.floor((epochMs - seconds * 1_000) * 1_000_000)];
  };
}
