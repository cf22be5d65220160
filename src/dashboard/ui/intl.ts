/** Formats like `new Intl.DateTimeFormat`. Kept, because a list creates hundreds and each takes up to 50 µs. */
export const dateFormat = kept(Intl.DateTimeFormat);
export const numberFormat = kept(Intl.NumberFormat);
export const relativeFormat = kept(Intl.RelativeTimeFormat);

/** Returns a function that creates a format once for the same arguments. */
function kept<Args extends unknown[], Format>(Create: new (...args: Args) => Format): (...args: Args) => Format {
  const formats = new Map<string, Format>();
  return (...args) => {
    const key = JSON.stringify(args);
    const format = formats.get(key) ?? new Create(...args);
    formats.set(key, format);
    return format;
  };
}
