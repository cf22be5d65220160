import { hash } from "node:crypto";
import { refuse, type Refusal } from "./refusal.ts";

/** How many results a page has when the caller does not say. */
export const DEFAULT_PAGE_SIZE = 25;

/**
 * The opaque token that leads to the page after a position: the sort key of the last result, bound
 * to the workspace and the filters it was listed with.
 *
 * @param position what JSON can hold
 * @param filters with the workspace among them
 */
export function writePageToken(position: readonly (string | number)[], filters: object): string {
  const text = JSON.stringify([fingerprint(position, filters), ...position]);
  return Buffer.from(text).toString("base64url");
}

/**
 * The position a token stands for; undefined when the token is not one of ours for these filters.
 * Its values are as a stranger may have written them: check them before use.
 */
export function readPageToken(token: string, filters: object): unknown[] | undefined {
  try {
    const bytes = Buffer.from(token, "base64url");
    // Node skips what is not base64url; one page has one token.
    if (bytes.toString("base64url") !== token) return undefined;
    const [print, ...position] = JSON.parse(bytes.toString()) as unknown[];
    return print === fingerprint(position, filters) ? position : undefined;
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

/** Tells positions in one list from those in another, and from slips of the pen; not a secret. */
function fingerprint(position: readonly unknown[], filters: object): string {
  return hash("sha256", JSON.stringify([filters, position]), "base64url").slice(0, 8);
}
