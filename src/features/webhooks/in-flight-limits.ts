import { USUAL_WINDOW } from "./send-window.ts";

/** How many attempts one process makes at the same time beyond the usual window of each webhook. */
const MAX_EXTRA = 512;

/**
 * Bounds the attempts that one process makes at the same time. The usual window of a webhook is
 * always free for it. Beyond that, a workspace may hold as many places as are left for others, so
 * that receivers that hang never hold all of them.
 */
export interface SendPlaces {
  /**
   * Takes a place for an attempt at a webhook.
   *
   * @param inFlight how many attempts at the webhook are in flight
   * @returns gives the place back; undefined when none is free
   */
  take(workspace: number, inFlight: number): (() => void) | undefined;
}

/** Builds the places of one process. */
export function createSendPlaces(): SendPlaces {
  const extraOf = new Map<number, number>();
  let extra = 0;

  function add(workspace: number, count: number): void {
    const own = (extraOf.get(workspace) ?? 0) + count;
    extra += count;
    if (own === 0) extraOf.delete(workspace);
    else extraOf.set(workspace, own);
  }

  return {
    take(workspace, inFlight) {
      if (inFlight < USUAL_WINDOW) return () => undefined;
      if ((extraOf.get(workspace) ?? 0) >= MAX_EXTRA - extra) return undefined;
      add(workspace, 1);
      return () => add(workspace, -1);
    },
  };
}
