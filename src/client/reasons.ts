import type { Reason } from "../../gen/client/reasons.js";

export type { Reason };

/** Current price. Amounts are in the major unit of the currency (ISO 4217), and the distance is in kilometers. */
type PriceFacts = Record<
  "distance_km" | "distance_fee" | "weight_fee" | "base_fee" | "subtotal" | "window_fee" | "total" | "currency",
  string
>;

/** The booking deadline and the next available window, as UTC times such as `2026-12-01T07:00:00.000Z`. */
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

/** Facts by reason. All values are strings. */
interface Facts {
  /** Empty if the currency has changed. If only the windows changed, contains only `total` and `currency`. */
  readonly PRICE_CHANGED: Readonly<Partial<PriceFacts>>;
  readonly QUOTE_EXPIRED: Readonly<PriceFacts & { expired_at: string }>;
  readonly QUOTE_VOID: Readonly<PriceFacts>;
  /** Reference of the shipment that used the quote. */
  readonly QUOTE_USED: { readonly shipment: string };
  /** Reference of the shipment with this external reference. */
  readonly EXTERNAL_REFERENCE_TAKEN: { readonly shipment: string };
  readonly WINDOW_INVALID: Readonly<WindowFacts>;
  readonly OUTSIDE_HOURS: Readonly<WindowFacts>;
  readonly CUT_OFF_PASSED: Readonly<WindowFacts>;
  readonly TOO_SOON: Readonly<WindowFacts>;
  readonly TOO_FAR_AHEAD: Readonly<WindowFacts>;
  /** `payment_provider` or `geocoder` if the service is waiting for one. */
  readonly UNAVAILABLE: { readonly waits_for?: string };
}

export type FactsOf<R extends Reason> = R extends keyof Facts ? Facts[R] : Readonly<Partial<Record<string, string>>>;
