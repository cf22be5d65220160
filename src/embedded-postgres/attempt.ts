/**
 * Does `work`, and gives what that gives; undefined when it fails with one of the system's error
 * codes, such as ENOENT.
 */
export function attempt<T>(work: () => T, ...codes: string[]): T | undefined {
  try {
    return work();
  } catch (error) {
    if (codes.includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
