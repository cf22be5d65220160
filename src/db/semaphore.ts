/** Concurrency limit. Waiters acquire permits in order. */
export interface Semaphore {
  acquire(): Promise<void>;
  /** Releases one permit. Call it once for each resolved `acquire`. */
  release(): void;
}

export function createSemaphore(permits: number): Semaphore {
  let free = permits;
  const waiting: (() => void)[] = [];
  return {
    async acquire() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    release() {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    },
  };
}
