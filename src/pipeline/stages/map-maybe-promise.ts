/**
 * Continues with a value as soon as it is there: at once where it is no promise, since a promise
 * costs more than most steps do.
 */
export function whenResolved<T, U>(
  value: T | Promise<T>,
  next: (value: T) => U | Promise<U>,
): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
