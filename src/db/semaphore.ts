/** Lets `count` at a time have a turn; the rest wait in their order. Whoever has one gives it back. */
export function createSemaphore(count: number): () => Promise<() => void> {
  let free = count;
  const waiting: (() => void)[] = [];
  const giveBack = () => {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
  };
  return async () => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free--;
    return giveBack;
  };
}
