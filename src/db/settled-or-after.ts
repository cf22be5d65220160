/** Resolves when work has ended, or after `ms` milliseconds. The work must not reject. */
export function settledOrAfter(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  void work.finally(() => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
