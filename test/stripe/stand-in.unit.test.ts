import { expect, test } from "vitest";
import samples from "./samples/samples.json" with { type: "json" };
import { newAccountLink } from "./objects.ts";
import { startStripe } from "./stand-in.ts";

const stripe = await startStripe();
const account = stripe.addAccount();
const books = stripe.books(account);

const open = () =>
  books.createSession({
    line_items: [{ quantity: 1, price_data: { currency: "usd", unit_amount: 1_269 } }],
  }).id;

/** Creates and returns one object of each kind and state. */
function everything(): object[] {
  const sessions = Array.from({ length: 5 }, open);
  const [paid, declined, processing, failed, expired] = sessions as [string, ...string[]];
  stripe.pay(paid);
  stripe.failPayment(declined!);
  for (const session of [processing!, failed!]) stripe.startProcessing(session);
  stripe.completeProcessing(processing!, "succeeded");
  stripe.completeProcessing(failed!, "failed");
  books.expireSession(expired!);
  for (const become of ["succeeded", "pending", "failed", "canceled"] as const) {
    stripe.refundsBecome(account, become);
    stripe.refundByHand(paid, 100);
  }
  stripe.closeDispute(stripe.openDispute(paid), "won");
  stripe.restrictAccount(account);
  const { sessions: all, intents, charges, refunds, disputes, events } = books;
  const maps = [all, intents, charges, refunds, disputes].flatMap((map) => [...map.values()]);
  const link = newAccountLink({ created: 0, livemode: false }, account);
  return [books.account, link, ...maps, ...events];
}

const kindOf = (value: unknown) => (value === null ? "null" : Array.isArray(value) ? "list" : typeof value);

/**
 * Returns the paths at which the types of two values differ. Nulls in either value are ignored and
 * left to the type checker.
 */
function differences(sample: unknown, actual: unknown, path: string): string[] {
  const [expectedKind, actualKind] = [kindOf(sample), kindOf(actual)];
  if (expectedKind === "null" || actualKind === "null") return [];
  if (expectedKind !== actualKind) return [`${path}: ${actualKind} instead of ${expectedKind}`];
  if (expectedKind !== "object") return [];
  return Object.entries(sample as object).flatMap(([name, value]) =>
    differences(value, Reflect.get(actual as object, name), `${path}.${name}`),
  );
}

test("each object has the fields of Stripe's own sample, with the same types, in any state", () => {
  const { data: _, ...event } = samples.event;
  const expected: Record<string, object> = { ...samples, event };
  const kinds = everything().map((object) => [Reflect.get(object, "object") as string, object] as const);
  expect(kinds.flatMap(([kind, object]) => differences(expected[kind], object, kind))).toEqual([]);
  expect(new Set(kinds.map(([kind]) => kind))).toEqual(new Set(Object.keys(samples)));
});
