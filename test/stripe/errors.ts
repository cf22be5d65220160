import type { Stripe } from "stripe";

/** An error response with Stripe's status and `error` object. */
export class StripeRefusal extends Error {
  readonly status: number;
  readonly error: Partial<Stripe.StripeRawError>;

  constructor(status: number, error: Partial<Stripe.StripeRawError>) {
    super(error.message);
    this.status = status;
    this.error = error;
  }
}

export function invalidRequest(
  message: string,
  { status = 400, ...details }: { readonly code?: string; readonly param?: string; readonly status?: number } = {},
): StripeRefusal {
  return new StripeRefusal(status, { type: "invalid_request_error", message, ...details });
}

/** Creates the error for an unknown id. `kind` is Stripe's name for the object type. */
export function missing(kind: string, id: string): StripeRefusal {
  return invalidRequest(`No such ${kind}: '${id}'`, { code: "resource_missing", status: 404 });
}

/** Creates the error for an unknown key. */
export function unauthenticated(key: string): StripeRefusal {
  return invalidRequest(`Invalid API Key provided: ${masked(key)}`, { status: 401 });
}

/** Creates the error for an account that the key cannot access, whether or not the account exists. */
export function noAccess(key: string, account: string): StripeRefusal {
  return invalidRequest(
    `The provided key '${masked(key)}' does not have access to account '${account}' (or that ` +
      "account does not exist). Application access may have been revoked.",
    { code: "account_invalid", status: 403 },
  );
}

/** Masks a key as Stripe does: `sk_test_*****cdef`. */
function masked(key: string): string {
  const kept = /^[a-z]+_(test|live)_/.exec(key)?.[0] ?? "";
  return `${kept}${"*".repeat(Math.max(key.length - kept.length - 4, 0))}${key.slice(-4)}`;
}
