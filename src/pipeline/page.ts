import { hash } from "node:crypto";
import { MAX_PAGE_BYTES } from "../domain/limits.ts";
import { refuse, type Refusal } from "../domain/refusal.ts";

export const DEFAULT_PAGE_SIZE = 25;

/**
 * The opaque token that leads to the page after a position: the sort key of the last result, bound
 * to the workspace and the filters it was listed with.
 */
export function writePageToken(position: readonly (string | number)[], filters: object): string {
  const text = JSON.stringify([fingerprint(position, filters), ...position]);
  return Buffer.from(text).toString("base64url");
}

/**
 * The position a token stands for; undefined when the token was not made for these filters. A
 * caller can forge tokens, so check the values before use.
 */
export function readPageToken(token: string, filters: object): unknown[] | undefined {
  try {
    const bytes = Buffer.from(token, "base64url");
    // Node skips characters that are not base64url: without this, many texts would be one token.
    if (bytes.toString("base64url") !== token) return undefined;
    const [print, ...position] = JSON.parse(bytes.toString()) as unknown[];
    return print === fingerprint(position, filters) ? position : undefined;
  } catch {
    return undefined;
  }
}

interface PageRequest {
  /** How many results; `DEFAULT_PAGE_SIZE` when absent. */
  readonly pageSize?: number | undefined;
  /** The `next_page_token` of the page before; absent for the first page. */
  readonly pageToken?: string | undefined;
}

/** A page to be read from a list: the rows after a position, in the order of the list. */
export interface Page<Position> {
  readonly after: Position | undefined;
  /** How many rows to read: one more than the page holds, which tells whether there is a next. */
  readonly limit: number;
  readonly filters: object;
}

/** Reads which page a caller wants; `toPosition` checks the values of a token. @throws Refusal FIELD_INVALID */
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
 * Ends a page: the rows it holds, and the token of the next page, empty when this is the last. A page
 * ends before it would be too large to send.
 *
 * @param bytesOf the most bytes a row may take in an answer; not given where no page can be too large
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
  return refuse(
    "FIELD_INVALID",
    "page_token is not the next_page_token of a page with these filters.",
    { subject: "page_token" },
  );
}

/** Tells a token of this list from one of another list and from a mistyped one. Not a secret. */
function fingerprint(position: readonly unknown[], filters: object): string {
  return hash("sha256", JSON.stringify([filters, position]), "base64url").slice(0, 8);
}

/** How many of these rows, from the first, fit on one page: at least one, so that every list can be read to its end. */
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

/** The bytes of a value as JSON, which no message with the same fields exceeds. */
export function jsonBytes(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}
