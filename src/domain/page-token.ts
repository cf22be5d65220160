import { hash } from "node:crypto";
import { refuse, type Refusal } from "./refusal.ts";

/** How many results a page has when the caller does not say. */
export const DEFAULT_PAGE_SIZE = 25;

/**
 * The opaque token that leads to the page after a position: the sort key of the last result, bound
 * to the filters it was listed with.
 *
 * @param position what JSON can hold
 */
export function writePageToken(position: readonly (string | number)[], filters: object): string {
  const text = JSON.stringify([fingerprint(filters), ...position]);
  return Buffer.from(text).toString("base64url");
}

/**
 * The position a token stands for; undefined when the token is not one of ours for these filters.
 * Its values are as a stranger may have written them: check them before use.
 */
export function readPageToken(token: string, filters: object): unknown[] | undefined {
  try {
    const read: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    if (!Array.isArray(read) || read[0] !== fingerprint(filters)) return undefined;
    return read.slice(1);
  } catch {
    return undefined;
  }
}

/** Whether a value out of a token is an instant that a database can hold: from 1970 to 9999. */
export function isInstant(value: unknown): value is number {
  return (
    Number.isInteger(value) && (value as number) >= 0 && (value as number) < 253_402_300_800_000
  );
}

/** The refusal of a token that is not one of ours for the filters it came with. */
export function invalidPageToken(): Refusal {
  return refuse(
    "FIELD_INVALID",
    "page_token is not the next_page_token of a page with these filters.",
    { subject: "page_token" },
  );
}

/** Tells one set of filters from another; not a secret. */
function fingerprint(filters: object): string {
  return hash("sha256", JSON.stringify(filters), "base64url").slice(0, 8);
}
