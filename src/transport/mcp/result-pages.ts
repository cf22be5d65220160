import type { DescMethodUnary } from "@bufbuild/protobuf";
import { invalidField } from "../../domain/refusal.ts";
import { type JsonObject, MAX_RESULT_BYTES, sizeOf } from "./tool-result.ts";

export type Paging =
  /** The RPC has pages. `next` returns the argument's value for the next page, or `undefined` on the last page. */
  | { readonly argument: string; next(response: JsonObject): string | undefined }
  /** The RPC returns all items in these fields at once. The tool divides them into pages with `page_token`. */
  | { readonly lists: readonly string[] };

const PAGE_TOKEN = {
  argument: "page_token",
  next: ({ next_page_token: token }) => (token === "" ? undefined : String(token)),
} satisfies Paging;
const CURSOR = {
  argument: "after",
  next: ({ has_more: hasMore, cursor }) => (hasMore === true ? String(cursor) : undefined),
} satisfies Paging;

export function pagingOf({ input, output }: DescMethodUnary): Paging {
  const paged = [PAGE_TOKEN, CURSOR].find(({ argument }) => input.fields.some(({ name }) => name === argument));
  if (paged !== undefined) return paged;
  return {
    lists: output.fields.filter((it) => it.fieldKind === "list").map(({ name }) => name),
  };
}

/** Space reserved for the notes of a result, in bytes. */
const RESULT_NOTE_BYTES = 1_000;

/**
 * Returns the items of some lists, starting at a position, that fit in a result, and the token of the
 * next page. Returns at least one item.
 *
 * @param token `next_page_token` of the previous page
 * @throws Refusal FIELD_INVALID for an invalid token
 */
export function pageOf(response: JsonObject, lists: readonly string[], token: unknown): JsonObject {
  const first = firstOf(token);
  const emptied = Object.fromEntries(lists.map((name) => [name, []]));
  let left = MAX_RESULT_BYTES - RESULT_NOTE_BYTES - sizeOf({ ...response, ...emptied });
  let index = -1;
  let next: number | undefined;
  const isOnPage = (item: unknown) => {
    index++;
    if (index < first || next !== undefined) return false;
    left -= sizeOf(item) + 1;
    if (left < 0 && index > first) next = index;
    return next === undefined;
  };
  const page = lists.map((name) => [name, (response[name] as unknown[]).filter(isOnPage)]);
  const nextPageToken = next === undefined ? "" : String(next);
  return { ...response, ...Object.fromEntries(page), next_page_token: nextPageToken };
}

function firstOf(token: unknown): number {
  if (token === undefined) return 0;
  if (typeof token === "string" && /^[1-9]\d{0,5}$/.test(token)) return Number(token);
  throw invalidField("page_token", "must be the next_page_token of a result for the same arguments.");
}

/** Describes how to continue, and how many requested items did not fit on this page. */
export function pageNotes(
  argument: string,
  next: string | undefined,
  { shown, requested }: { readonly shown: number; readonly requested: number },
): readonly string[] {
  if (next === undefined) return [];
  const reason = shown < requested ? `Only ${shown} of ${requested} fit, because results are limited to 20 kB. ` : "";
  return [`${reason}More follow: repeat the call with ${argument} set to ${JSON.stringify(next)}.`];
}
