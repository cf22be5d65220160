/** Why a call of a workspace's can be refused, as the guide to errors explains. */
export type Reason =
  | "API_KEY_LAST"
  | "API_KEY_LIMIT"
  | "API_KEY_NOT_FOUND"
  | "BODY_NOT_JSON"
  | "BODY_TOO_LARGE"
  | "BODY_UNREADABLE"
  | "CHECKOUT_AMOUNT"
  | "CHECKOUT_UNAVAILABLE"
  | "CREDENTIAL_REFUSED"
  | "CROSS_SITE"
  | "CUSTOMER_NOT_FOUND"
  | "CUSTOMER_NOT_MERGEABLE"
  | "CUSTOMER_TAKEN"
  | "CUT_OFF_PASSED"
  | "DEADLINE_EXCEEDED"
  | "DELIVERY_NOT_FOUND"
  | "ETAG_STALE"
  | "EVENT_NOT_FOUND"
  | "EXTERNAL_REFERENCE_TAKEN"
  | "FIELD_INVALID"
  | "GEOCODER_NOT_CONFIGURED"
  | "IDEMPOTENCY_KEY_IN_USE"
  | "IDEMPOTENCY_KEY_REUSED"
  | "INTERNAL"
  | "LIVE_MODE_ONLY"
  | "MEMBER_LAST_ADMIN"
  | "MEMBER_LIMIT"
  | "MEMBER_NOT_FOUND"
  | "NOT_A_MEMBER"
  | "NOT_VERIFIED"
  | "OUTSIDE_HOURS"
  | "PAYMENTS_OPEN"
  | "PAYMENT_DISPUTED"
  | "PAYMENT_MISMATCH"
  | "PAYMENT_NOT_CONFIRMED"
  | "PAYMENT_PROVIDER_NOT_CONFIGURED"
  | "PAYMENT_PROVIDER_NOT_CONNECTED"
  | "PAYMENT_PROVIDER_NOT_READY"
  | "PAYMENT_PROVIDER_REFUSED"
  | "PICTURE_NOT_FOUND"
  | "PIN_WRONG"
  | "PLACE_NOT_FOUND"
  | "PRICE_CHANGED"
  | "QUOTE_EXPIRED"
  | "QUOTE_MISMATCH"
  | "QUOTE_UNKNOWN"
  | "QUOTE_USED"
  | "QUOTE_VOID"
  | "RATE_LIMITED"
  | "ROLE_INSUFFICIENT"
  | "ROUTE_NOT_COVERED"
  | "SCOPE_INSUFFICIENT"
  | "SHIPMENT_NOT_FOUND"
  | "SHIPMENT_STATE"
  | "SIMULATION_LIMIT"
  | "TEST_MODE_ONLY"
  | "TOO_FAR_AHEAD"
  | "TOO_SOON"
  | "UNAVAILABLE"
  | "WEBHOOK_DISABLED"
  | "WEBHOOK_LIMIT"
  | "WEBHOOK_NOT_FOUND"
  | "WEIGHT_NOT_SERVED"
  | "WINDOW_INVALID"
  | "WORKSPACE_SUSPENDED";

/** A price of now: amounts in the major unit of the currency (ISO 4217), the distance in kilometres. */
type PriceFacts = Record<
  | "distance_km"
  | "distance_fee"
  | "weight_fee"
  | "base_fee"
  | "subtotal"
  | "window_fee"
  | "total"
  | "currency",
  string
>;

/** Instants in UTC, as `2026-12-01T07:00:00.000Z`: until when to book, and the next window that can be booked. */
type WindowFacts = Partial<
  Record<
    | "cut_off_at"
    | "next_available"
    | "next_available_end"
    | "dropoff_cut_off_at"
    | "dropoff_next_available"
    | "dropoff_next_available_end",
    string
  >
>;

/** The facts that go with reasons; all are texts. */
interface Facts {
  /** Of a shipment's windows `total` and `currency` alone, and nothing where the currency has changed. */
  readonly PRICE_CHANGED: Readonly<Partial<PriceFacts>>;
  readonly QUOTE_EXPIRED: Readonly<PriceFacts & { expired_at: string }>;
  readonly QUOTE_VOID: Readonly<PriceFacts>;
  /** The reference of the shipment that was booked. */
  readonly QUOTE_USED: { readonly shipment: string };
  /** The reference of the shipment that has it. */
  readonly EXTERNAL_REFERENCE_TAKEN: { readonly shipment: string };
  readonly WINDOW_INVALID: Readonly<WindowFacts>;
  readonly OUTSIDE_HOURS: Readonly<WindowFacts>;
  readonly CUT_OFF_PASSED: Readonly<WindowFacts>;
  readonly TOO_SOON: Readonly<WindowFacts>;
  readonly TOO_FAR_AHEAD: Readonly<WindowFacts>;
  /** `payment_provider` or `geocoder`, where it is that one which the service waits for. */
  readonly UNAVAILABLE: { readonly waits_for?: string };
}

export type FactsOf<R extends Reason> = R extends keyof Facts
  ? Facts[R]
  : Readonly<Partial<Record<string, string>>>;
