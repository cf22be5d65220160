export type Readiness = ReturnType<typeof createReadiness>;

/**
 * Creates a tracker of the process's readiness. Its first phase is "starting". An open service without a tariff is not
 * ready, but serves calls that need no tariff, such as publishing the first one.
 *
 * @param tariffVersion returns the version in force, `undefined` if there is none
 * @param degradedReason returns the reason why the service is degraded, `undefined` if it is not
 */
export function createReadiness(tariffVersion: () => number | undefined, degradedReason: () => string | undefined) {
  const shutdown = new AbortController();
  const end = new AbortController();
  let phase: "starting" | "open" | "shutting down" = "starting";
  /** Returns the reason why the service is not open, such as "starting". `undefined` if it is open. */
  const closedReason = () => (phase === "open" ? undefined : phase);
  const tariffMissing = () => (tariffVersion() === undefined ? "waiting for the first tariff" : undefined);
  return {
    closedReason,
    /**
     * Returns the reason why the service should receive no calls: it is closed, without a tariff, or
     * degraded. `undefined` if it is ready.
     */
    unreadyReason: () => closedReason() ?? tariffMissing() ?? degradedReason(),
    open(): void {
      phase = "open";
    },
    /** Makes the service not ready while it continues to serve. Returns whether it was open. */
    leave(): boolean {
      const wasOpen = phase === "open";
      phase = "shutting down";
      return wasOpen;
    },
    /** Starts the shutdown. It cannot be undone. */
    shutDown(): void {
      phase = "shutting down";
      shutdown.abort();
    },
    end: () => end.abort(),
    /** Aborts at shutdown, which ends unlimited streams. */
    shutdownSignal: shutdown.signal,
    /** Aborts when connections are closed and the remaining calls are aborted. */
    endSignal: end.signal,
  };
}
