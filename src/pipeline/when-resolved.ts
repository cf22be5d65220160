/**
 * Goes on with a value as soon as it is there: at once where there is nothing to wait for, since a
 * promise costs more than most steps do.
 */
export function whenResolved<T, U>(
  value: T | Promise<T>,
  goOn: (value: T) => U | Promise<U>,
): U | Promise<U> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}
