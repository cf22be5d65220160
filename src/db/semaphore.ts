/** Bounds how many things happen at a time; the rest wait in their order. */
export interface Semaphore {
  acquire(): Promise<void>;
  /** Call once for each `acquire` that has resolved. */
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
