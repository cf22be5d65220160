/** A key that works. */
interface WorkingKey {
  readonly endsAt?: Date | null;
}

/**
 * What a key is the last one of, of those of its kind: without one that works its holder could not make
 * another, nor for long without one that lasts. Undefined when there are others.
 */
export function lastKeyThat<Key extends WorkingKey>(
  key: Key,
  working: readonly Key[],
): "works" | "is not to end" | undefined {
  const others = working.filter((other) => other !== key);
  if (key.endsAt) return others.length === 0 ? "works" : undefined;
  return others.every(({ endsAt }) => endsAt) ? "is not to end" : undefined;
}
