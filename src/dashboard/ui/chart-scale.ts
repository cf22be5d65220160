/**
 * Returns the top of an axis that fits the largest value, and ascending ticks at round numbers, including zero.
 *
 * @param peak largest value, from 0
 * @param count approximate number of ticks above zero
 * @param isWhole whether ticks must be whole numbers
 */
export function scaleTo(peak: number, count: number, isWhole: boolean) {
  if (peak <= 0) return { max: 1, ticks: [0] };
  const step = Math.max(roundStep(peak / count), isWhole ? 1 : 0);
  const steps = Math.ceil(peak / step - 1e-9);
  return {
    max: steps * step,
    // Multiply instead of adding up: repeated addition of 0.1 is not exact.
    ticks: Array.from({ length: steps + 1 }, (_, i) => i * step),
  };
}

/** Rounds up to the next value of 1, 2, 5, 10, 20 and so on. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const digit = [1, 2, 5, 10].find((each) => each * power >= step * (1 - 1e-9))!;
  return digit * power;
}

/**
 * Returns the indexes of the points that get a name on the axis: the first, the last, and evenly
 * spaced points between them.
 *
 * @param max maximum number of names, from 1
 */
export function namedPoints(count: number, max: number): readonly number[] {
  if (count <= 1 || max < 2) return count === 0 ? [] : [0];
  const step = Math.ceil((count - 1) / (max - 1));
  const named = Array.from({ length: Math.ceil((count - 1) / step) }, (_, i) => i * step);
  // Drop a name that is too close to the last.
  if (named.length > 1 && count - 1 - named.at(-1)! < step) named.pop();
  return [...named, count - 1];
}
