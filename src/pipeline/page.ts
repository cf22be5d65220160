import { hash } from "node:crypto";
import { MAX_PAGE_BYTES } from "../domain/limits.ts";
import { invalidField, type Refusal } from "../domain/refusal.ts";

export const DEFAULT_PAGE_SIZE = 25;

/**
 * Returns the opaque token for the page after a position. The token contains the sort key of the last
 * result, and is valid for one workspace and set of filters.
 */
export function writePageToken(position: readonly (string | number)[], filters: object): string {
  const text = JSON.stringify([fingerprint(position, filters), ...position]);
  return Buffer.from(text).toString("base64url");
}

/**
 * Returns the position in a token. `undefined` if the token was not created for these filters. Callers
 * can forge tokens, so check the values.
 */
export function readPageToken(token: string, filters: object): unknown[] | undefined {
  try {
    const bytes = Buffer.from(token, "base64url");
    // Node ignores characters that are not base64url, so that several texts would decode to the same token.
    if (bytes.toString("base64url") !== token) return undefined;
    const [print, ...position] = JSON.parse(bytes.toString()) as unknown[];
    return print === fingerprint(position, filters) ? position : undefined;
  } catch {
    return undefined;
  }
}

export interface PageRequest {
  /** Number of results per page. Defaults to `DEFAULT_PAGE_SIZE`. */
  readonly pageSize?: number | undefined;
  /** `next_page_token` of the previous page. Absent for the first page. */
  readonly pageToken?: string | undefined;
}

/** A page of a list: the rows after a position, in order. */
export interface Page<Position> {
  readonly after: Position | undefined;
  /** Number of rows to read: one more than the page size, to detect a next page. */
  readonly limit: number;
  readonly filters: object;
}

/**
 * Parses the requested page. `toPosition` validates the values of a token.
 *
 * @throws Refusal FIELD_INVALID
 */
export function readPage<Position>(
  { pageSize = DEFAULT_PAGE_SIZE, pageToken }: PageRequest,
  filters: object,
  toPosition: (values: readonly unknown[]) => Position | undefined,
): Page<Position> {
  const limit = pageSize + 1;
  if (pageToken === undefined) return { after: undefined, limit, filters };
  const after = toPosition(readPageToken(pageToken, filters) ?? []);
  if (after === undefined) throw pageTokenError();
  return { after, limit, filters };
}

export function toId([id]: readonly unknown[]): number | undefined {
  return Number.isSafeInteger(id) ? (id as number) : undefined;
}

/**
 * Returns the rows of a page and the token of the next page. The token is empty on the last page. A
 * page that would be too large to send is shortened.
 *
 * @param bytesOf returns the maximum size of a row in a response. Omitted if no page can be too large.
 */
export function endPage<Row>(
  found: readonly Row[],
  { limit, filters }: Page<unknown>,
  positionOf: (row: Row) => readonly (string | number)[],
  bytesOf: (row: Row) => number = () => 0,
): { readonly rows: readonly Row[]; readonly nextPageToken: string } {
  const rows = found.slice(0, countThatFit(found.slice(0, limit - 1), bytesOf));
  if (rows.length === found.length) return { rows, nextPageToken: "" };
  return { rows, nextPageToken: writePageToken(positionOf(rows.at(-1)!), filters) };
}

function pageTokenError(): Refusal {
  return invalidField("page_token", "is not the next_page_token of a page with these filters.");
}

/** Returns a fingerprint that detects mistyped tokens and tokens of other lists. It is not a secret. */
function fingerprint(position: readonly unknown[], filters: object): string {
  return hash("sha256", JSON.stringify([filters, position]), "base64url").slice(0, 8);
}

/**
 * Returns the number of leading rows that fit on one page. At least one, so that every list can be read to its end.
 */
export function countThatFit<Row>(rows: readonly Row[], bytesOf: (row: Row) => number): number {
  let bytes = 0;
  let count = 0;
  for (const row of rows) {
    bytes += bytesOf(row);
    if (bytes > MAX_PAGE_BYTES && count > 0) break;
    count++;
  }
  return count;
}

/** Returns the size of a value as JSON, in bytes. The protobuf encoding of the same fields is never larger. */
export function jsonBytes(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}
