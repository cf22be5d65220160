/**
 * Like `new Intl.DateTimeFormat`, but returns the same format for the same arguments. Creating a format takes up to
 * 50 µs, and a list needs hundreds of them.
 */
export const dateFormat = cacheFormats(Intl.DateTimeFormat);
export const numberFormat = cacheFormats(Intl.NumberFormat);
export const relativeFormat = cacheFormats(Intl.RelativeTimeFormat);

function cacheFormats<Args extends unknown[], T>(Format: new (...args: Args) => T): (...args: Args) => T {
  const formats = new Map<string, T>();
  return (...args) => {
    // A format without a time zone keeps the computer's, which a traveler may change.
    const key = JSON.stringify([args, new Date().getTimezoneOffset()]);
    const format = formats.get(key) ?? new Format(...args);
    formats.set(key, format);
    return format;
  };
}
