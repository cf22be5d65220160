import type { Stripe } from "stripe";
import { z } from "zod";
import type { Books } from "./books.ts";
import { invalidRequest } from "./errors.ts";
import { idOf, newAccountLink, type Stamp } from "./objects.ts";

/** Context of a request. */
interface Call {
  /** Books of the account that the request addresses. */
  readonly books: Books;
  /** Value of `:id` in the path. */
  readonly id: string;
  readonly stamp: Stamp;
  /** Returns the books of an account. @throws StripeRefusal if the caller has no access to it */
  account(id: string): Books;
  connect(params: Stripe.AccountCreateParams): Books;
}

export interface Route {
  readonly method: string;
  readonly path: RegExp;
  /** Parses and validates form parameters. Returns the action to run. */
  prepare(call: Call, form: string): () => object;
}

/** Parsers by parameter name. Only the parameters that the service sends are known. */
type Shape<P> = { readonly [K in keyof P]?: z.ZodType<P[K]> };

const text = z.string().min(1);
const integer = z.string().regex(/^\d+$/).transform(Number);
const metadata = z.record(z.string().max(40), z.string().max(500));
const page = {
  limit: integer.pipe(z.number().min(1).max(100)).optional(),
  starting_after: text.optional(),
};

const nothing = z.strictObject({});

const sessionCreate: z.ZodType<Stripe.Checkout.SessionCreateParams> = z.strictObject({
  mode: z.literal("payment"),
  success_url: text,
  cancel_url: text,
  client_reference_id: text.max(200),
  expires_at: integer,
  line_items: z
    .array(
      z.strictObject({
        price_data: z.strictObject({
          currency: z.string().regex(/^[a-z]{3}$/),
          unit_amount: integer,
          product_data: z.strictObject({ name: text }),
        } satisfies Shape<Stripe.Checkout.SessionCreateParams.LineItem.PriceData>),
        quantity: integer.pipe(z.literal(1)),
      } satisfies Shape<Stripe.Checkout.SessionCreateParams.LineItem>),
    )
    .length(1),
  metadata,
  payment_intent_data: z.strictObject({
    description: text,
    metadata,
  } satisfies Shape<Stripe.Checkout.SessionCreateParams.PaymentIntentData>),
} satisfies Shape<Stripe.Checkout.SessionCreateParams>);

const refundCreate: z.ZodType<Stripe.RefundCreateParams> = z.strictObject({
  amount: integer.pipe(z.number().min(1)),
  payment_intent: text,
  metadata,
} satisfies Shape<Stripe.RefundCreateParams>);

const listOfPayment: z.ZodType<Stripe.RefundListParams & Stripe.DisputeListParams> = z.strictObject({
  ...page,
  payment_intent: text,
} satisfies Shape<Stripe.RefundListParams>);

const eventList = z.strictObject({
  ...page,
  created: z.strictObject({ gte: integer, lte: integer } satisfies Shape<Stripe.RangeQueryParam>),
  types: z.array(text).max(20),
} satisfies Shape<Stripe.EventListParams>);

const accountCreate: z.ZodType<Stripe.AccountCreateParams> = z.strictObject({
  controller: z.strictObject({
    fees: z.strictObject({ payer: z.literal("account") }),
    losses: z.strictObject({ payments: z.literal("stripe") }),
    requirement_collection: z.literal("stripe"),
    stripe_dashboard: z.strictObject({ type: z.literal("full") }),
  } satisfies Shape<Stripe.AccountCreateParams.Controller>),
  metadata,
} satisfies Shape<Stripe.AccountCreateParams>);

const accountLinkCreate: z.ZodType<Stripe.AccountLinkCreateParams> = z.strictObject({
  account: text,
  type: z.literal("account_onboarding"),
  refresh_url: text,
  return_url: text,
} satisfies Shape<Stripe.AccountLinkCreateParams>);

/** Time for which Stripe lists events, in seconds: 30 days. */
const EVENTS_LISTED_SECONDS = 30 * 24 * 60 * 60;

export const ROUTES: readonly Route[] = [
  route("POST /v1/checkout/sessions", sessionCreate, ({ books }, params) => books.createSession(params)),
  route("GET /v1/checkout/sessions/:id", nothing, ({ books, id }) => books.session(id)),
  route("POST /v1/checkout/sessions/:id/expire", nothing, ({ books, id }) => books.expireSession(id)),
  route("GET /v1/payment_intents/:id", nothing, ({ books, id }) => books.intent(id)),
  route("POST /v1/refunds", refundCreate, ({ books }, params) => books.createRefund(params)),
  route("GET /v1/refunds", listOfPayment, ({ books }, params) =>
    list([...books.refunds.values()].filter(isOf(params.payment_intent)), params),
  ),
  route("GET /v1/disputes", listOfPayment, ({ books }, params) =>
    list([...books.disputes.values()].filter(isOf(params.payment_intent)), params),
  ),
  route("GET /v1/events", eventList, ({ books, stamp }, params) => {
    const { gte, lte } = params.created;
    const since = Math.max(gte, stamp.created - EVENTS_LISTED_SECONDS);
    const isListed = ({ type, created }: Stripe.EventBase) =>
      created >= since && created <= lte && params.types.includes(type);
    return list(books.events.filter(isListed), params);
  }),
  route("GET /v1/account", nothing, ({ books }) => books.account),
  route("POST /v1/accounts", accountCreate, ({ connect }, params) => connect(params).account),
  route("GET /v1/accounts/:id", nothing, ({ account, id }) => account(id).account),
  route("POST /v1/account_links", accountLinkCreate, ({ account, stamp }, params) =>
    newAccountLink(stamp, account(params.account).account.id),
  ),
];

function route<P>(line: string, schema: z.ZodType<P>, run: (call: Call, params: P) => object): Route {
  const [method = "", path = ""] = line.split(" ");
  return {
    method,
    path: new RegExp(`^${path.replace(":id", "(?<id>[^/]+)")}$`),
    prepare(call, form) {
      const { success, data, error } = schema.safeParse(decodeForm(form));
      if (!success) throw invalidRequest(z.prettifyError(error), { code: "parameter_invalid" });
      return () => run(call, data);
    },
  };
}

const isOf =
  (intent: string | undefined) =>
  ({ payment_intent }: Stripe.Refund | Stripe.Dispute) =>
    idOf(payment_intent) === intent;

/** Returns one page of a list, newest first. `objects` must be sorted oldest first. */
function list<T extends { readonly id: string }>(
  objects: readonly T[],
  { limit = 10, starting_after: after }: Stripe.PaginationParams,
): Pick<Stripe.ApiList<T>, "object" | "data" | "has_more"> {
  const page = objects.toReversed();
  const rest = page.slice(page.findIndex(({ id }) => id === after) + 1);
  return { object: "list", data: rest.slice(0, limit), has_more: rest.length > limit };
}

type FormValue = string | FormValue[] | { [name: string]: FormValue };

/** Decodes Stripe's notation for nested objects and lists: `a[b][0][c]=1` is `{ a: { b: [{ c: "1" }] } }`. */
function decodeForm(form: string): FormValue {
  const tree: Node = new Map();
  for (const [name, value] of new URLSearchParams(form)) {
    const path = name.replaceAll("]", "").split("[");
    const last = path.pop()!;
    path.reduce((node, key) => below(node, key), tree).set(last, value);
  }
  return settle(tree);
}

type Node = Map<string, Node | string>;

function below(node: Node, key: string): Node {
  const found = node.get(key);
  const next: Node = found instanceof Map ? found : new Map();
  node.set(key, next);
  return next;
}

function settle(node: Node | string): FormValue {
  if (typeof node === "string") return node;
  const entries = [...node].map(([key, value]): [string, FormValue] => [key, settle(value)]);
  const isList = entries.length > 0 && entries.every(([key], index) => key === String(index));
  return isList ? entries.map(([, value]) => value) : Object.fromEntries(entries);
}
