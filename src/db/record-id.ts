/**
 * An id as a caller sent it, for a look-up; undefined when no record can have it: ids are whole
 * numbers from 1 to 2^53 - 1.
 */
export function readRecordId(value: bigint | undefined): number | undefined {
  const id = Number(value);
  return Number.isSafeInteger(id) && id > 0 ? id : undefined;
}
