import { createWorkers, type LeasedQueue } from "../../src/db/leased-queue.ts";

/** Processes the due items of a queue, as a replica does, until none is found. */
export async function workOff(queue: LeasedQueue): Promise<void> {
  let found = 0;
  const { poll, idle } = createWorkers(
    {
      ...queue,
      async find(search) {
        const items = await queue.find(search);
        found = items.length;
        return items;
      },
    },
    { log: { warn: () => undefined }, observeQueue: () => () => undefined, pollMs: 1 },
  );
  do {
    await poll();
    await idle();
  } while (found > 0);
}
