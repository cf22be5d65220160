import type { Stripe } from "stripe";

/** What an error's body says beside its message. */
export interface ErrorDetails {
  readonly type: Stripe.RawErrorType;
  readonly code?: string;
  readonly param?: string;
  readonly message: string;
}

/** A refused request, with Stripe's words: the status, and what the body's `error` says. */
export class StripeRefusal extends Error {
  readonly status: number;
  readonly details: ErrorDetails;

  constructor(status: number, details: ErrorDetails) {
    super(details.message);
    this.status = status;
    this.details = details;
  }
}

/** A request that asks for what cannot be. */
export function invalidRequest(
  message: string,
  details: { readonly code?: string; readonly param?: string; readonly status?: number } = {},
): StripeRefusal {
  const { status = 400, ...said } = details;
  return new StripeRefusal(status, { type: "invalid_request_error", message, ...said });
}

/** No object of this account has this id; `kind` as Stripe's messages name it. */
export function missing(kind: string, id: string, param = "id"): StripeRefusal {
  return invalidRequest(`No such ${kind}: '${id}'`, {
    code: "resource_missing",
    param,
    status: 404,
  });
}

export function missingParameter(param: string): StripeRefusal {
  return invalidRequest(`Missing required param: ${param}.`, { code: "parameter_missing", param });
}

/** A key that Stripe does not know, or none at all. */
export function unauthenticated(key: string | undefined): StripeRefusal {
  const message =
    key === undefined
      ? "You did not provide an API key. You need to provide your API key in the Authorization " +
        "header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY')."
      : `Invalid API Key provided: ${masked(key)}`;
  return invalidRequest(message, { status: 401 });
}

/** An account that this key does not reach, whether or not there is one. */
export function noAccess(key: string, account: string): StripeRefusal {
  return invalidRequest(
    `The provided key '${masked(key)}' does not have access to account '${account}' (or that ` +
      "account does not exist). Application access may have been revoked.",
    { code: "account_invalid", status: 403 },
  );
}

/** A restricted key without the permission that an endpoint needs. */
export function noPermission(key: string, account: string, permission: string): StripeRefusal {
  return invalidRequest(
    `The provided key '${masked(key)}' does not have the required permissions for this endpoint ` +
      `on account '${account}'. Having the '${permission}' permission would allow this request ` +
      "to continue.",
    { status: 403 },
  );
}

/** `sk_test_*****cdef`, as Stripe tells keys. */
function masked(key: string): string {
  const kept = /^[a-z]+_(test|live)_/.exec(key)?.[0] ?? "";
  return `${kept}${"*".repeat(Math.max(key.length - kept.length - 4, 0))}${key.slice(-4)}`;
}

/** The body of an error. */
export function errorBody(
  { type, code, param, message }: ErrorDetails,
  account: string,
  requestId: string,
): object {
  return {
    error: {
      ...(code === undefined
        ? {}
        : { code, doc_url: `https://stripe.com/docs/error-codes/${code.replaceAll("_", "-")}` }),
      message,
      ...(param === undefined ? {} : { param }),
      request_log_url: `https://dashboard.stripe.com/${account}/test/workbench/logs?object=${requestId}`,
      type,
    },
  };
}
