import type { Stripe } from "stripe";
import type { z } from "zod";
import { newAccountLink } from "./account-objects.ts";
import type { Books } from "./books.ts";
import { missing } from "./errors.ts";
import { idOf } from "./objects.ts";
import * as parameters from "./parameters.ts";

/** What a request is about. */
export interface Call {
  /** Of the account that the request acts for. */
  readonly books: Books;
  /** What stands for `:id` in the path. */
  readonly id: string;
  /** An account of the caller's by its id. @throws StripeRefusal when it has no access */
  account(id: string): Books;
  /** Makes an account that is connected with the caller's. */
  connect(params: Stripe.AccountCreateParams): Books;
}

/** One endpoint. */
export interface Route {
  readonly method: string;
  readonly path: RegExp;
  /** What a restricted key needs. */
  readonly permission: string;
  /** Reads the parameters, and gives what then does as they say. */
  prepare(call: Call, sent: unknown): () => object;
}

function route<P>(
  line: string,
  permission: string,
  schema: z.ZodType<P>,
  run: (call: Call, params: P) => object,
): Route {
  const [method = "", path = ""] = line.split(" ");
  return {
    method,
    path: new RegExp(`^${path.replace(":id", "(?<id>[^/]+)")}$`),
    permission,
    prepare(call, sent) {
      const params = parameters.parse(schema, sent);
      return () => run(call, params);
    },
  };
}

export const ROUTES: readonly Route[] = [
  route(
    "POST /v1/checkout/sessions",
    "rak_checkout_session_write",
    parameters.sessionCreate,
    ({ books }, params) => books.createSession(params),
  ),
  route(
    "GET /v1/checkout/sessions",
    "rak_checkout_session_read",
    parameters.sessionList,
    ({ books }, params) =>
      page("/v1/checkout/sessions", [...books.sessions.values()].toReversed(), params, (session) =>
        agree(params.status, session.status, params.payment_intent, session.payment_intent),
      ),
  ),
  route(
    "GET /v1/checkout/sessions/:id",
    "rak_checkout_session_read",
    parameters.retrieve,
    ({ books, id }) => books.session(id),
  ),
  route(
    "POST /v1/checkout/sessions/:id/expire",
    "rak_checkout_session_write",
    parameters.retrieve,
    ({ books, id }) => books.expireSession(id),
  ),
  route(
    "GET /v1/payment_intents",
    "rak_payment_intent_read",
    parameters.intentList,
    ({ books }, params) =>
      page("/v1/payment_intents", [...books.intents.values()].toReversed(), params),
  ),
  route(
    "GET /v1/payment_intents/:id",
    "rak_payment_intent_read",
    parameters.retrieve,
    ({ books, id }) => books.intent(id),
  ),
  route(
    "POST /v1/payment_intents/:id/cancel",
    "rak_payment_intent_write",
    parameters.intentCancel,
    ({ books, id }, params) => books.cancelIntent(id, params.cancellation_reason),
  ),
  route("GET /v1/charges", "rak_charge_read", parameters.chargeList, ({ books }, params) =>
    page("/v1/charges", [...books.charges.values()].toReversed(), params, (charge) =>
      agree(params.payment_intent, charge.payment_intent),
    ),
  ),
  route("GET /v1/charges/:id", "rak_charge_read", parameters.retrieve, ({ books, id }) =>
    books.charge(id),
  ),
  route("POST /v1/refunds", "rak_charge_write", parameters.refundCreate, ({ books }, params) =>
    books.createRefund(params),
  ),
  route("GET /v1/refunds", "rak_charge_read", parameters.refundList, ({ books }, params) =>
    page("/v1/refunds", [...books.refunds.values()].toReversed(), params, (refund) =>
      agree(params.charge, refund.charge, params.payment_intent, refund.payment_intent),
    ),
  ),
  route("GET /v1/refunds/:id", "rak_charge_read", parameters.retrieve, ({ books, id }) =>
    books.refund(id),
  ),
  route("POST /v1/refunds/:id/cancel", "rak_charge_write", parameters.retrieve, ({ books, id }) =>
    books.settleRefund(id, "canceled"),
  ),
  route("GET /v1/disputes", "rak_dispute_read", parameters.disputeList, ({ books }, params) =>
    page("/v1/disputes", [...books.disputes.values()].toReversed(), params, (dispute) =>
      agree(params.charge, dispute.charge, params.payment_intent, dispute.payment_intent),
    ),
  ),
  route("GET /v1/disputes/:id", "rak_dispute_read", parameters.retrieve, ({ books, id }) =>
    books.dispute(id),
  ),
  route("GET /v1/events", "rak_event_read", parameters.eventList, ({ books }, params) =>
    page(
      "/v1/events",
      books.events.toReversed(),
      params,
      ({ type, created }) =>
        created >= books.stamp.created - EVENTS_LISTED_SECONDS &&
        (params.types?.includes(type) ?? matches(params.type ?? "*", type)),
    ),
  ),
  route("GET /v1/events/:id", "rak_event_read", parameters.retrieve, ({ books, id }) =>
    books.event(id),
  ),
  route(
    "GET /v1/account",
    "rak_accounts_kyc_basic_read",
    parameters.retrieve,
    ({ books }) => books.account,
  ),
  route(
    "POST /v1/accounts",
    "rak_connected_account_write",
    parameters.accountCreate,
    ({ connect }, params) => connect(params).account,
  ),
  route(
    "GET /v1/accounts/:id",
    "rak_accounts_kyc_basic_read",
    parameters.retrieve,
    ({ account, id }) => account(id).account,
  ),
  route(
    "POST /v1/account_links",
    "rak_account_link_write",
    parameters.accountLinkCreate,
    ({ account }, params) => newAccountLink(account(params.account).stamp, params.account),
  ),
];

/** Events are listed for 30 days. */
const EVENTS_LISTED_SECONDS = 30 * 24 * 60 * 60;

/** Whether each field has the value that was asked for, where one was. */
function agree(
  ...pairs: readonly (string | { readonly id: string } | null | undefined)[]
): boolean {
  return pairs.every(
    (wanted, index) =>
      index % 2 === 1 || wanted === undefined || wanted === idOf(pairs[index + 1] ?? null),
  );
}

/** `charge.*` are all types that begin so. */
function matches(wanted: string, type: string): boolean {
  return wanted.endsWith("*") ? type.startsWith(wanted.slice(0, -1)) : wanted === type;
}

interface Listed {
  readonly id: string;
  readonly created: number;
}

/** One page of a list, whose objects come newest first. */
function page<T extends Listed>(
  url: string,
  all: readonly T[],
  params: Stripe.PaginationParams & { readonly created?: Stripe.RangeQueryParam | number },
  filter: (object: T) => boolean = () => true,
): Stripe.ApiList<T> {
  const { limit = 10, starting_after: after, ending_before: before } = params;
  const wanted = all.filter((object) => filter(object) && inRange(object.created, params.created));
  const from = after === undefined ? 0 : position(wanted, after, "starting_after") + 1;
  const to = before === undefined ? wanted.length : position(wanted, before, "ending_before");
  const slice = wanted.slice(from, to);
  const data = before === undefined ? slice.slice(0, limit) : slice.slice(-limit);
  return { object: "list", data, has_more: data.length < slice.length, url };
}

function position(all: readonly Listed[], id: string, param: string): number {
  const index = all.findIndex((object) => object.id === id);
  if (index === -1) throw missing("object", id, param);
  return index;
}

function inRange(created: number, range: Stripe.RangeQueryParam | number | undefined): boolean {
  if (range === undefined) return true;
  if (typeof range === "number") return created === range;
  return (
    (range.gt === undefined || created > range.gt) &&
    (range.gte === undefined || created >= range.gte) &&
    (range.lt === undefined || created < range.lt) &&
    (range.lte === undefined || created <= range.lte)
  );
}
