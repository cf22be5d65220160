/** Whether the service takes calls. */
export type Readiness = ReturnType<typeof createReadiness>;

/**
 * Starts closed ("starting"). Once open, it is not ready until there is a tariff: what needs none, such
 * as publishing the first, is served.
 *
 * @param tariffVersion the version in force; undefined while there is none
 * @param degradedBecause why it can do only a part of its work, or late; undefined when it can do all
 */
export function createReadiness(
  tariffVersion: () => number | undefined,
  degradedBecause: () => string | undefined,
) {
  const shutdown = new AbortController();
  const end = new AbortController();
  let phase: "starting" | "open" | "shutting down" = "starting";
  /** Why the service is not open, such as "starting"; undefined while it is. */
  const closedBecause = () => (phase === "open" ? undefined : phase);
  const tariffMissing = () =>
    tariffVersion() === undefined ? "waiting for its first tariff" : undefined;
  return {
    closedBecause,
    /**
     * Why the service should get no calls now: they cannot reach it, or many are refused, or what it
     * answers is late. Undefined when it is well.
     */
    unreadyBecause: () => closedBecause() ?? tariffMissing() ?? degradedBecause(),
    open(): void {
      phase = "open";
    },
    /** Is not ready from now on, and goes on serving. Gives whether it was open. */
    leave(): boolean {
      const wasOpen = phase === "open";
      phase = "shutting down";
      return wasOpen;
    },
    /** Takes no new connections from now on. Final. */
    shutDown(): void {
      phase = "shutting down";
      shutdown.abort();
    },
    /** Whatever is still served is cut from now on. */
    end: () => end.abort(),
    /** Aborts when the service shuts down: what has no end of its own ends. */
    shutdownSignal: shutdown.signal,
    /** Aborts when its connections have been closed, or are cut. */
    endSignal: end.signal,
  };
}
