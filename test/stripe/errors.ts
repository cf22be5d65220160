import type { Stripe } from "stripe";

/** A refused request, with Stripe's words: the status, and what the body's `error` says. */
export class StripeRefusal extends Error {
  readonly status: number;
  readonly error: Partial<Stripe.StripeRawError>;

  constructor(status: number, error: Partial<Stripe.StripeRawError>) {
    super(error.message);
    this.status = status;
    this.error = error;
  }
}

/** A request that asks for what cannot be. */
export function invalidRequest(
  message: string,
  {
    status = 400,
    ...details
  }: { readonly code?: string; readonly param?: string; readonly status?: number } = {},
): StripeRefusal {
  return new StripeRefusal(status, { type: "invalid_request_error", message, ...details });
}

/** No object of this account has this id; `kind` as Stripe's messages name it. */
export function missing(kind: string, id: string): StripeRefusal {
  return invalidRequest(`No such ${kind}: '${id}'`, { code: "resource_missing", status: 404 });
}

/** A key that Stripe does not know. */
export function unauthenticated(key: string): StripeRefusal {
  return invalidRequest(`Invalid API Key provided: ${masked(key)}`, { status: 401 });
}

/** An account that this key does not reach, whether or not there is one. */
export function noAccess(key: string, account: string): StripeRefusal {
  return invalidRequest(
    `The provided key '${masked(key)}' does not have access to account '${account}' (or that ` +
      "account does not exist). Application access may have been revoked.",
    { code: "account_invalid", status: 403 },
  );
}

/** `sk_test_*****cdef`, as Stripe tells keys. */
function masked(key: string): string {
  const kept = /^[a-z]+_(test|live)_/.exec(key)?.[0] ?? "";
  return `${kept}${"*".repeat(Math.max(key.length - kept.length - 4, 0))}${key.slice(-4)}`;
}
