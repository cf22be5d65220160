import type { DisputeStatus } from "../../domain/shipment/payment-details.ts";
import type { Mode } from "../../domain/mode.ts";
import type {
  ConnectionState,
  PaymentProviderName,
} from "../workspaces/payment-connection.entity.ts";

/** A payment provider that a workspace can connect. */
export interface PaymentProvider {
  readonly name: PaymentProviderName;
  /** `undefined` if the workspace collects payments itself and records payments and refunds manually. */
  readonly online: OnlinePayments | undefined;
}

/**
 * A provider that takes online payments. Workspaces use its live mode, test twins its test mode, where no real money
 * moves. The modes share no data. Calls take up to 10 seconds and must not be made in a transaction.
 *
 * @throws (all methods with provider calls) ProviderUnavailable if the result of the call is unknown, ProviderRefused
 *   if the provider rejected the call and changed nothing
 */
export interface OnlinePayments {
  /** Returns why the platform has no account in a mode, or `undefined` if it has one. */
  platformFault(mode: Mode): string | undefined;
  /**
   * Returns why a key is invalid in a mode, to follow "restricted_key", or `undefined` if it is valid. Makes no
   * provider call.
   */
  keyFault(ownKey: string, mode: Mode): string | undefined;
  /** Header with the signature of a webhook delivery, in lower case. */
  readonly signatureHeader: string;
  /**
   * Creates an account for a workspace. Repeated calls with the same key return the same account. Idempotency keys
   * are scoped to this installation: its id is added to each key, here and below, and to the metadata of the object.
   */
  createAccount(mode: Mode, workspace: number, idempotencyKey: string): Promise<AccountSnapshot>;
  /** Creates a link to the form for the provider's missing account details. */
  createOnboardingLink(access: AccountAccess, urls: OnboardingUrls): Promise<OnboardingLink>;
  /** Reads an account. Without an account id, reads the account that the key belongs to. */
  readAccount(access: ModeAccess): Promise<AccountSnapshot>;
  /**
   * Returns why the provider cannot take an amount, to follow "total", or `undefined` if it can. Makes no provider
   * call.
   */
  amountFault(amountMinor: number, currency: string): string | undefined;
  /** Opens a checkout. Repeated calls with the same key return the same checkout. */
  openCheckout(
    access: AccountAccess,
    checkout: NewCheckout,
    idempotencyKey: string,
  ): Promise<OpenedCheckout>;
  /** Expires a checkout. A no-op if it is not open. */
  expireCheckout(access: AccountAccess, checkout: string): Promise<void>;
  /** Reads a payment with its refunds and disputes. */
  findPayment(access: AccountAccess, checkout: string): Promise<PaymentSnapshot>;
  /** Requests a refund. Repeated calls with the same key make no second refund. */
  refund(access: AccountAccess, refund: NewRefund, idempotencyKey: string): Promise<void>;
  /**
   * Lists refund and dispute events in a time span, newest first, one page at a time. A paid payment is not polled,
   * so this recovers lost webhook deliveries.
   */
  listEvents(access: AccountAccess, span: EventSpan): Promise<EventPage>;
  /**
   * Verifies and parses a webhook delivery. Makes no provider call.
   *
   * @param owner whose secrets must have signed it
   * @returns `undefined` if the event is irrelevant to this service
   * @throws ProviderRefused if the signature is missing, wrong or too old
   */
  readEvent(event: SignedEvent, owner: EventRecipient): Promise<ProviderEvent | undefined>;
}

/** A checkout to open. Amounts are in ISO 4217 minor units, here and below. */
export interface NewCheckout {
  readonly workspace: number;
  readonly shipment: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly expiresAt: Date;
}

interface OpenedCheckout {
  readonly checkout: string;
}

/** Snapshot of a payment at a provider. */
export interface PaymentSnapshot {
  /** Time at which the checkout was opened. Null if it was not. */
  readonly openedAt: Date | null;
  /** The page where it can be paid. Null if it cannot be paid any more. */
  readonly checkout: { readonly url: string; readonly expiresAt: Date } | null;
  /** `unpaid` if the checkout is open, `failed` if it can no longer be paid. */
  readonly status: "unpaid" | "processing" | "paid" | "failed";
  /** Error of the last attempt, or null. */
  readonly error: string | null;
  /** Workspace and shipment in its metadata, such as `7 SHP-4T8ZK2M0QWXE`, or null. */
  readonly reference: string | null;
  /** The provider's id of the payment. Null until the first attempt to pay. */
  readonly payment: string | null;
  readonly amountMinor: number;
  readonly currency: string;
  readonly refunds: readonly RefundSnapshot[];
  readonly dispute: DisputeStatus | null;
  /** Whether the provider refuses refunds until an open dispute is decided. */
  readonly isRefundBlocked: boolean;
  /** Sum of the lost disputes. */
  readonly lostMinor: number;
}

/** A refund at a provider, made by this service or manually. */
export interface RefundSnapshot {
  readonly status: "pending" | "succeeded" | "failed";
  readonly amountMinor: number;
  /** Number of this service's attempt. Null for a manual refund. */
  readonly attempt: number | null;
  /** Error if it failed, or null. */
  readonly error: string | null;
}

interface NewRefund {
  readonly payment: string;
  readonly amountMinor: number;
  readonly currency: string;
  /** Starts at 1. */
  readonly attempt: number;
}

export interface SignedEvent {
  readonly body: Buffer;
  readonly signature: string;
  readonly receivedAt: Date;
}

/** Events to list. Both ends of the span are inclusive and in whole seconds. */
interface EventSpan {
  readonly from: Date;
  readonly to: Date;
  /** `next` of the previous page. Omitted for the first page. */
  readonly after?: string;
}

interface EventPage {
  readonly events: readonly ProviderEvent[];
  /** Cursor of the next page. `undefined` on the last page. */
  readonly next: string | undefined;
}

/** Recipient of an event: the platform, or a workspace with its own key. */
export interface EventRecipient {
  /** `undefined` for the platform. */
  readonly own: SigningSecrets | undefined;
}

/** Signing secrets of a mode. */
export interface SigningSecrets {
  readonly mode: Mode;
  readonly secrets: readonly string[];
}

export interface ProviderEvent {
  readonly id: string;
  readonly type: string;
  /** Whether it belongs to the live mode. */
  readonly live: boolean;
  /** Account of the event. Null if it is the account of the key. */
  readonly account: string | null;
  /** Reference of the shipment in the event, or null. */
  readonly shipment: string | null;
  /** The provider's id of the payment, or null. */
  readonly payment: string | null;
}

/** Access to an account at a provider. */
export interface AccountAccess {
  readonly mode: Mode;
  readonly account: string;
  /** The account's own key. `undefined` if the platform's key is used. */
  readonly ownKey: string | undefined;
}

/** Access to a mode, without an account or with the account's own key. */
export type ModeAccess = Pick<AccountAccess, "mode"> & Partial<AccountAccess>;

/** Snapshot of an account at a provider. */
export interface AccountSnapshot {
  readonly account: string;
  readonly state: ConnectionState;
  /** Requirements still outstanding, as the provider names them. */
  readonly missing: readonly string[];
}

/** Redirect targets after onboarding and for an expired link. */
interface OnboardingUrls {
  readonly returnUrl: string;
  readonly refreshUrl: string;
}

interface OnboardingLink {
  readonly url: string;
  readonly expiresAt: Date;
}

/**
 * The provider was unreachable, failed, timed out or rejected the platform's key. The call may have taken effect and
 * can be retried.
 */
export class ProviderUnavailable extends Error {
  constructor(cause: unknown) {
    super("the payment provider did not respond", { cause });
    this.name = "ProviderUnavailable";
  }
}

/** Reason of a provider's refusal. */
export type ProviderRefusalKind = "revoked" | "amount" | "failed" | "other";

/** The provider refused a call, which had no effect. */
export class ProviderRefused extends Error {
  /**
   * `revoked`: no access to the account or its key is revoked. `amount`: too small or too large. `failed`: an earlier
   * call with this idempotency key failed, and each repetition returns the same error.
   */
  readonly kind: ProviderRefusalKind;
  /** The provider's error code, such as `amount_too_small`, if any. */
  readonly code: string | undefined;

  /** @param message the provider's message without secrets */
  constructor(message: string, kind: ProviderRefusalKind, code?: string) {
    super(message);
    this.name = "ProviderRefused";
    this.kind = kind;
    this.code = code;
  }
}
