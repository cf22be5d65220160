import { Code } from "@connectrpc/connect";
import type { RefusalReason } from "../domain/refusal.ts";

/** The gRPC code and the HTTP status of a reason. */
export interface RefusalStatus {
  readonly code: Code;
  readonly httpStatus: number;
}

/** The only mapping from reasons to statuses. */
export const REFUSAL_STATUS: Readonly<Record<RefusalReason, RefusalStatus>> = {
  BODY_UNREADABLE: { code: Code.InvalidArgument, httpStatus: 400 },
  BODY_NOT_JSON: { code: Code.InvalidArgument, httpStatus: 415 },
  BODY_TOO_LARGE: { code: Code.ResourceExhausted, httpStatus: 413 },
  FIELD_INVALID: { code: Code.InvalidArgument, httpStatus: 422 },
  CREDENTIAL_REFUSED: { code: Code.Unauthenticated, httpStatus: 401 },
  WORKSPACE_SUSPENDED: { code: Code.PermissionDenied, httpStatus: 403 },
  ROLE_INSUFFICIENT: { code: Code.PermissionDenied, httpStatus: 403 },
  RATE_LIMITED: { code: Code.ResourceExhausted, httpStatus: 429 },
  NO_SUCH_METHOD: { code: Code.Unimplemented, httpStatus: 404 },
  METHOD_NOT_ALLOWED: { code: Code.Unimplemented, httpStatus: 405 },
  SHIPMENT_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  SHIPMENT_STATE: { code: Code.FailedPrecondition, httpStatus: 422 },
  CUSTOMER_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  ETAG_STALE: { code: Code.Aborted, httpStatus: 409 },
  EXTERNAL_REFERENCE_TAKEN: { code: Code.AlreadyExists, httpStatus: 409 },
  IDEMPOTENCY_KEY_IN_USE: { code: Code.Aborted, httpStatus: 409 },
  IDEMPOTENCY_KEY_REUSED: { code: Code.FailedPrecondition, httpStatus: 422 },
  PAYMENT_MISMATCH: { code: Code.FailedPrecondition, httpStatus: 422 },
  PRICE_CHANGED: { code: Code.FailedPrecondition, httpStatus: 422 },
  ROUTE_NOT_COVERED: { code: Code.FailedPrecondition, httpStatus: 422 },
  WEIGHT_NOT_SERVED: { code: Code.FailedPrecondition, httpStatus: 422 },
  PAYMENT_PROVIDER_NOT_CONNECTED: { code: Code.FailedPrecondition, httpStatus: 422 },
  EVENT_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  WEBHOOK_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  DELIVERY_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  WEBHOOK_LIMIT: { code: Code.FailedPrecondition, httpStatus: 422 },
  WEBHOOK_DISABLED: { code: Code.FailedPrecondition, httpStatus: 422 },
  API_KEY_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  API_KEY_LIMIT: { code: Code.FailedPrecondition, httpStatus: 422 },
  API_KEY_LAST: { code: Code.FailedPrecondition, httpStatus: 422 },
  OPERATOR_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  OPERATOR_EMAIL_TAKEN: { code: Code.AlreadyExists, httpStatus: 409 },
  OPERATOR_REVOKED: { code: Code.FailedPrecondition, httpStatus: 422 },
  OPERATOR_LAST_OWNER: { code: Code.FailedPrecondition, httpStatus: 422 },
  WORKSPACE_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  TARIFF_VERSION_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  TARIFF_DRAFT_NOT_FOUND: { code: Code.NotFound, httpStatus: 404 },
  TARIFF_DRAFT_LIMIT: { code: Code.FailedPrecondition, httpStatus: 422 },
  TARIFF_FAULTY: { code: Code.FailedPrecondition, httpStatus: 422 },
  TARIFF_REPLACED: { code: Code.Aborted, httpStatus: 409 },
  TARIFF_SCHEDULED: { code: Code.Aborted, httpStatus: 409 },
  TARIFF_NOT_SCHEDULED: { code: Code.FailedPrecondition, httpStatus: 422 },
  UNAVAILABLE: { code: Code.Unavailable, httpStatus: 503 },
  DEADLINE_EXCEEDED: { code: Code.DeadlineExceeded, httpStatus: 504 },
  INTERNAL: { code: Code.Internal, httpStatus: 500 },
};
