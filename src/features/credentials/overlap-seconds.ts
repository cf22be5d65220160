/**
 * How long the key that the call came with goes on working when the caller does not say: it alone
 * opens the stored response, so that the call can be repeated when the answer is lost.
 */
const OVERLAP_OF_CURRENT_SECONDS = 600;

/**
 * For how many seconds a key goes on that is rotated.
 *
 * @param asked what the caller says, if anything
 * @param current the id of the key that the call came with; undefined for none
 */
export function overlapSecondsOf(
  key: string,
  asked: number | undefined,
  current: string | undefined,
): number {
  return asked ?? (key === current ? OVERLAP_OF_CURRENT_SECONDS : 0);
}
