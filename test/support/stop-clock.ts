import { onTestFinished, vi } from "vitest";

/** Freezes `performance.now()` until the end of the test, so that no rate limit bucket refills. */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
}
