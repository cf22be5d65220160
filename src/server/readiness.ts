/** Readiness of the service. */
export type Readiness = ReturnType<typeof createReadiness>;

/**
 * Starts closed ("starting"). Once open, it is not ready until there is a tariff, although calls
 * that need none, such as publishing the first, are served.
 *
 * @param tariffVersion version in force, or `undefined`
 * @param degradedBecause reason why only part of the work is possible or on time, or `undefined`
 */
export function createReadiness(
  tariffVersion: () => number | undefined,
  degradedBecause: () => string | undefined,
) {
  const shutdown = new AbortController();
  const end = new AbortController();
  let phase: "starting" | "open" | "shutting down" = "starting";
  /** Returns the reason why the service is not open, such as "starting", or `undefined`. */
  const closedBecause = () => (phase === "open" ? undefined : phase);
  const tariffMissing = () =>
    tariffVersion() === undefined ? "waiting for its first tariff" : undefined;
  return {
    closedBecause,
    /**
     * Returns the reason why the service should get no calls: closed, without a tariff, or
     * degraded. `undefined` if it is ready.
     */
    unreadyBecause: () => closedBecause() ?? tariffMissing() ?? degradedBecause(),
    open(): void {
      phase = "open";
    },
    /** Becomes not ready while it keeps serving. Returns whether it was open. */
    leave(): boolean {
      const wasOpen = phase === "open";
      phase = "shutting down";
      return wasOpen;
    },
    /** Stops accepting connections. Final. */
    shutDown(): void {
      phase = "shutting down";
      shutdown.abort();
    },
    /** Cuts off calls in flight. */
    end: () => end.abort(),
    /** Aborts at shutdown, to end open-ended streams. */
    shutdownSignal: shutdown.signal,
    /** Aborts when connections have been closed or are cut off. */
    endSignal: end.signal,
  };
}
