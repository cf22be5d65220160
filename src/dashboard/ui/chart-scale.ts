export interface Scale {
  /** The value at the top. */
  readonly most: number;
  /** Where lines are, in order, zero among them. */
  readonly ticks: readonly number[];
}

/**
 * An axis that reaches the largest value, with ticks at round numbers.
 *
 * @param peak the largest value, from 0
 * @param count about how many ticks there are above zero
 * @param isWhole whether only whole numbers make sense
 */
export function scaleTo(peak: number, count: number, isWhole: boolean): Scale {
  if (peak <= 0) return { most: 1, ticks: [0] };
  const step = Math.max(roundStep(peak / count), isWhole ? 1 : 0);
  const steps = Math.ceil(peak / step - 1e-9);
  return {
    most: steps * step,
    // Multiplied, as sums of such as 0.1 are not exact.
    ticks: Array.from({ length: steps + 1 }, (_, i) => i * step),
  };
}

/** The next of 1, 2, 5, 10, 20, ... that is not below. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const digit = [1, 2, 5, 10].find((each) => each * power >= step * (1 - 1e-9))!;
  return digit * power;
}

/**
 * Which of some points are named on the axis: the first, the last, and others evenly between.
 *
 * @param most how many names there is room for, from 1
 */
export function namedPoints(count: number, most: number): readonly number[] {
  if (count <= 1 || most < 2) return count === 0 ? [] : [0];
  const step = Math.ceil((count - 1) / (most - 1));
  const named = Array.from({ length: Math.ceil((count - 1) / step) }, (_, i) => i * step);
  // One that is too near to the last gives way to it.
  if (named.length > 1 && count - 1 - named.at(-1)! < step) named.pop();
  return [...named, count - 1];
}
