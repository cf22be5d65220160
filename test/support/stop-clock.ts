import { onTestFinished, vi } from "vitest";

/** Stops `performance.now()` until the test ends, so that no bucket refills. */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
}
