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
  let phase: "starting" | "open" | "shutting down" = "starting";
  let isLeaving = false;
  /** Why calls are refused now, such as "starting"; undefined while they are served. */
  const closedBecause = () => (phase === "open" ? undefined : phase);
  const leavingBecause = () => (isLeaving ? "shutting down" : undefined);
  const tariffMissing = () =>
    tariffVersion() === undefined ? "waiting for its first tariff" : undefined;
  return {
    closedBecause,
    /**
     * Why the service should get no calls now: they are refused, or many of them, or what it answers is
     * late. Undefined when it is well.
     */
    unreadyBecause: () =>
      closedBecause() ?? leavingBecause() ?? tariffMissing() ?? degradedBecause(),
    /** Whether it shuts down, or soon will, so that callers should connect to others. */
    isLeaving: () => isLeaving,
    /** Takes calls from now on. */
    open(): void {
      phase = "open";
    },
    /** Is not ready from now on, if it takes calls, and goes on taking them. Gives whether it does. */
    leave(): boolean {
      isLeaving = true;
      return phase === "open";
    },
    /** Takes no more calls. Final. */
    shutDown(): void {
      isLeaving = true;
      phase = "shutting down";
      shutdown.abort();
    },
    /** Aborts when the service shuts down. */
    shutdownSignal: shutdown.signal,
  };
}
