import type { DueDelivery } from "./load-due-deliveries.ts";

/** The deliveries to one webhook that are being sent, at most one of each subject. */
export interface DeliveriesInFlight {
  count(): number;
  ids(): number[];
  /** Takes the first delivery out of a list whose subject has none in flight. */
  takeFirst(waiting: DueDelivery[]): DueDelivery | undefined;
  remove(delivery: DueDelivery): void;
}

/** Builds the set; it is empty at first. */
export function createDeliveriesInFlight(): DeliveriesInFlight {
  const ids = new Set<number>();
  const subjects = new Set<string>();
  return {
    count: () => ids.size,
    ids: () => [...ids],
    takeFirst(waiting) {
      const i = waiting.findIndex(({ subject }) => !subjects.has(subject));
      if (i === -1) return undefined;
      const [taken] = waiting.splice(i, 1);
      ids.add(taken!.id);
      subjects.add(taken!.subject);
      return taken;
    },
    remove({ id, subject }) {
      ids.delete(id);
      subjects.delete(subject);
    },
  };
}
