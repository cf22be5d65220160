/** Whether a text is the canonical IANA name of a time zone. Offsets such as `+01:00` are not names. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && new Temporal.ZonedDateTime(0n, name).timeZoneId === name;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
