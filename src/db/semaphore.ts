/** Concurrency limit. Waiters acquire permits in order. */
export type Semaphore = ReturnType<typeof createSemaphore>;

export function createSemaphore(permits: number) {
  let free = permits;
  const waiting: (() => void)[] = [];
  return {
    async acquire(): Promise<void> {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    /** Releases one permit. Call it once for each resolved `acquire`. */
    release(): void {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    },
  };
}
