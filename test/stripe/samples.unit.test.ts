import { expect, test } from "vitest";
import samples from "./samples/samples.json" with { type: "json" };
import { startStripe } from "./stand-in.ts";

/** Reads an object as the server sends it. */
type Ask = (line: string, form?: Readonly<Record<string, string>>) => Promise<object>;

/** One of each kind, as the server gives it, in each of its states. */
async function objectsOfEachKind(): Promise<[kind: keyof typeof samples, object][]> {
  const stripe = await startStripe();
  const account = stripe.addAccount();
  const ask: Ask = async (line, form) => {
    const [method = "", path = ""] = line.split(" ");
    const response = await fetch(`${stripe.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${stripe.secretKey}`, "stripe-account": account },
      ...(form && { body: new URLSearchParams(form) }),
    });
    expect(response.status, line).toBe(200);
    return (await response.json()) as object;
  };
  const create = () =>
    ask("POST /v1/checkout/sessions", {
      mode: "payment",
      success_url: "https://example.com",
      "line_items[0][quantity]": "1",
      "line_items[0][price_data][currency]": "usd",
      "line_items[0][price_data][unit_amount]": "500",
      "line_items[0][price_data][product_data][name]": "A delivery",
    }) as Promise<{ id: string; payment_intent: string }>;
  const open = await create();
  const { id } = await create();
  stripe.pay(id);
  const paid = await ask(`GET /v1/checkout/sessions/${id}`);
  const { payment_intent } = paid as { payment_intent: string };
  const declined = await create();
  stripe.failPayment(declined.id);
  const failed = await ask(`GET /v1/checkout/sessions/${declined.id}?expand[]=payment_intent`);
  stripe.refundsBecome(account, "pending");
  const refund = (await ask("POST /v1/refunds", { payment_intent, amount: "100" })) as {
    id: string;
    charge: string;
  };
  stripe.settleRefund(refund.id, "failed");
  const dispute = stripe.openDispute(id);
  const { data: events } = (await ask("GET /v1/events?limit=100")) as { data: object[] };
  return [
    ["account", await ask("GET /v1/account")],
    [
      "account_link",
      await ask("POST /v1/account_links", {
        account,
        type: "account_onboarding",
        return_url: "https://example.com",
        refresh_url: "https://example.com",
      }),
    ],
    ["checkout.session", open],
    ["checkout.session", paid],
    ["payment_intent", (failed as { payment_intent: object }).payment_intent],
    ["payment_intent", await ask(`GET /v1/payment_intents/${payment_intent}`)],
    // Of a charge its refunds are there when asked for.
    ["charge", await ask(`GET /v1/charges/${refund.charge}?expand[]=refunds`)],
    ["refund", refund],
    ["refund", await ask(`GET /v1/refunds/${refund.id}`)],
    ["dispute", await ask(`GET /v1/disputes/${dispute}`)],
    ...events.map((event): ["event", object] => ["event", event]),
  ];
}

const kindOf = (value: unknown) =>
  value === null ? "null" : Array.isArray(value) ? "list" : typeof value;

/**
 * Where an object differs in its fields' kinds from a sample: what is null in either may be anything
 * in the other, which is for the types to say.
 */
function differences(sample: unknown, given: unknown, path: string): string[] {
  const [wanted, found] = [kindOf(sample), kindOf(given)];
  if (found === "undefined") return [`${path} is missing`];
  if (wanted === "null" || found === "null") return [];
  if (wanted !== found) return [`${path}: ${found} instead of ${wanted}`];
  if (Array.isArray(sample) && Array.isArray(given)) {
    return sample.length === 0 || given.length === 0
      ? []
      : differences(sample[0], given[0], `${path}[0]`);
  }
  if (wanted !== "object") return [];
  return Object.entries(sample as object).flatMap(([name, value]) =>
    differences(value, Reflect.get(given as object, name), `${path}.${name}`),
  );
}

test("each object has at least the fields of Stripe's own sample, of the same kinds", async () => {
  const { data: _, ...event } = samples.event;
  const wanted = { ...samples, event };
  const given = await objectsOfEachKind();
  expect(given.flatMap(([kind, object]) => differences(wanted[kind], object, kind))).toEqual([]);
  expect(new Set(given.map(([kind]) => kind))).toEqual(new Set(Object.keys(samples)));
});
