/** Whether the service takes calls. */
export interface Readiness {
  /** Why calls are refused now, such as "starting"; undefined while they are served. */
  closedBecause(): string | undefined;
  /**
   * Why the service should get no calls now: they are refused, or many of them, or what it answers is
   * late. Undefined when it is well.
   */
  unreadyBecause(): string | undefined;
  /** Takes calls from now on. */
  open(): void;
  /** Takes no more calls. Final. */
  shutDown(): void;
  /** Aborts when the service shuts down. */
  readonly shutdownSignal: AbortSignal;
}

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
): Readiness {
  const shutdown = new AbortController();
  let phase: "starting" | "open" | "shutting down" = "starting";
  const closedBecause = () => (phase === "open" ? undefined : phase);
  const tariffMissing = () =>
    tariffVersion() === undefined ? "waiting for its first tariff" : undefined;
  return {
    closedBecause,
    unreadyBecause: () => closedBecause() ?? tariffMissing() ?? degradedBecause(),
    open() {
      phase = "open";
    },
    shutDown() {
      phase = "shutting down";
      shutdown.abort();
    },
    shutdownSignal: shutdown.signal,
  };
}
