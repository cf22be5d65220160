import type { Books } from "./books.ts";
import { invalidRequest } from "./errors.ts";
import { idOf } from "./objects.ts";

/**
 * A copy of an answer in which ids that were asked for are the objects themselves: of
 * `payment_intent.latest_charge` both, of `data.charge` those of each object in a list.
 */
export function expand(books: Books, answer: object, paths: unknown): object {
  const copy = structuredClone(answer);
  if (!Array.isArray(paths)) return copy;
  for (const path of paths) expandPath(books, copy, String(path).split("."), String(path));
  return copy;
}

function expandPath(books: Books, at: object, [name = "", ...rest]: string[], path: string): void {
  const value: unknown = name === "refunds" ? refundsOf(books, at) : Reflect.get(at, name);
  if (Array.isArray(value)) {
    for (const one of value) expandPath(books, one, rest, path);
    return;
  }
  const object = typeof value === "string" ? lookUp(books, value) : value;
  if (value === undefined || object === undefined) {
    throw invalidRequest(`This property cannot be expanded (${path}).`, { param: "expand" });
  }
  Reflect.set(at, name, object);
  if (rest.length > 0 && typeof object === "object" && object !== null) {
    expandPath(books, object, rest, path);
  }
}

function lookUp(books: Books, id: string): object | undefined {
  const { intents, charges, refunds, sessions, disputes } = books;
  for (const objects of [intents, charges, refunds, sessions, disputes]) {
    const found = objects.get(id);
    if (found !== undefined) return structuredClone(found);
  }
  return undefined;
}

/** The refunds of a charge, which Stripe leaves out unless asked. */
function refundsOf(books: Books, charge: object): object {
  const id: unknown = Reflect.get(charge, "id");
  const data = [...books.refunds.values()].filter((refund) => idOf(refund.charge) === id);
  return {
    object: "list",
    data: structuredClone(data.toReversed()),
    has_more: false,
    url: `/v1/charges/${String(id)}/refunds`,
  };
}
