import type { DisputeStatus } from "../../domain/shipment/payment-details.ts";
import type { Mode } from "../../domain/mode.ts";
import type { ConnectionState, PaymentProviderName } from "../workspaces/payment-connection.entity.ts";

export interface PaymentProvider {
  readonly name: PaymentProviderName;
  /** `undefined` if the workspace collects payments itself and records payments and refunds manually. */
  readonly online: OnlinePayments | undefined;
}

/**
 * A provider that takes online payments. Workspaces use its live mode, and test twins use its test mode. The modes
 * share no data. Calls take up to 10 seconds and must not run inside a transaction.
 *
 * @throws (all methods with provider calls) ProviderUnavailable if the result of the call is unknown, ProviderRefused
 * if the provider rejected the call without any effect
 */
export interface OnlinePayments {
  /** Returns why the platform has no account in a mode, or `undefined` if it has one. */
  platformFault(mode: Mode): string | undefined;
  /**
   * Returns why a key is invalid in a mode, or `undefined` if it is valid. The text follows
   * "restricted_key". Makes no provider call.
   */
  keyFault(ownKey: string, mode: Mode): string | undefined;
  /** Name of the header with the signature of a webhook delivery, in lower case. */
  readonly signatureHeader: string;
  /**
   * Creates an account for a workspace. Repeated calls with the same key return the same account.
   *
   * The id of this installation is added to the idempotency keys of all methods, and to the
   * metadata of created objects, because several installations can share an account.
   */
  createAccount(mode: Mode, workspace: number, idempotencyKey: string): Promise<AccountSnapshot>;
  /** Creates a link to the provider's form for missing account details. */
  createOnboardingLink(access: AccountAccess, urls: OnboardingUrls): Promise<OnboardingLink>;
  /** Reads an account. Without an account id, reads the account that the key belongs to. */
  readAccount(access: ModeAccess): Promise<AccountSnapshot>;
  /**
   * Returns why the provider cannot take an amount, or `undefined` if it can. The text follows
   * "total". Makes no provider call.
   */
  amountFault(amountMinor: number, currency: string): string | undefined;
  /** Opens a checkout. Repeated calls with the same key return the same checkout. */
  openCheckout(access: AccountAccess, checkout: NewCheckout, idempotencyKey: string): Promise<OpenedCheckout>;
  /** Expires a checkout. A no-op if the checkout is not open. */
  expireCheckout(access: AccountAccess, checkout: string): Promise<void>;
  findPayment(access: AccountAccess, checkout: string): Promise<PaymentSnapshot>;
  /** Requests a refund. Repeated calls with the same key make one refund. */
  refund(access: AccountAccess, refund: NewRefund, idempotencyKey: string): Promise<void>;
  /**
   * Lists refund and dispute events in a time span, newest first, one page at a time. This recovers lost webhook
   * deliveries, because payments are no longer polled once they are paid.
   */
  listEvents(access: AccountAccess, span: EventSpan): Promise<EventPage>;
  /**
   * Verifies and parses a webhook delivery. Makes no provider call.
   *
   * @param owner the recipient, one of whose secrets must have signed the event
   * @returns `undefined` if the event is irrelevant to this service
   * @throws ProviderRefused if the signature is missing, wrong or too old
   */
  readEvent(event: SignedEvent, owner: EventRecipient): Promise<ProviderEvent | undefined>;
}

/** A checkout to open. All amounts in this file are in ISO 4217 minor units. */
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

export interface PaymentSnapshot {
  /** Time at which the checkout was opened, or null if opening failed. */
  readonly openedAt: Date | null;
  /** Payment page of the checkout. Null if the checkout can no longer be paid. */
  readonly checkout: { readonly url: string; readonly expiresAt: Date } | null;
  /** `unpaid` while the checkout is open. `failed` if the checkout can no longer be paid. */
  readonly status: "unpaid" | "processing" | "paid" | "failed";
  /** Error of the last payment attempt, or null. */
  readonly error: string | null;
  /** Workspace and shipment from the payment's metadata, such as `7 SHP-4T8ZK2M0QWXE`, or null. */
  readonly reference: string | null;
  /** The provider's id of the payment. Null until the first attempt to pay. */
  readonly payment: string | null;
  readonly amountMinor: number;
  readonly currency: string;
  readonly refunds: readonly RefundSnapshot[];
  readonly dispute: DisputeStatus | null;
  /** Whether the provider refuses refunds until an open dispute is decided. */
  readonly isRefundBlocked: boolean;
  /** Sum of the lost disputes. Can exceed the amount that is left after refunds. */
  readonly lostMinor: number;
}

/** A refund at a provider, made by this service or manually. */
export interface RefundSnapshot {
  readonly status: "pending" | "succeeded" | "failed";
  readonly amountMinor: number;
  /** Number of the attempt if this service made the refund. Null for a manual refund. */
  readonly attempt: number | null;
  readonly error: string | null;
}

interface NewRefund {
  readonly payment: string;
  readonly amountMinor: number;
  readonly currency: string;
  /** Number of the refund attempt, from 1. */
  readonly attempt: number;
}

export interface SignedEvent {
  readonly body: Buffer;
  readonly signature: string;
  readonly receivedAt: Date;
}

/** Time span of the events to list. Both limits are inclusive and in whole seconds. */
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

/** Recipient of an event: the platform, or a workspace that uses its own key. */
export interface EventRecipient {
  /** Secrets of the workspace. `undefined` for the platform. */
  readonly own: SigningSecrets | undefined;
}

/** Webhook signing secrets of one mode. */
export interface SigningSecrets {
  readonly mode: Mode;
  readonly secrets: readonly string[];
}

export interface ProviderEvent {
  readonly id: string;
  readonly type: string;
  /** Whether the event belongs to the live mode. */
  readonly live: boolean;
  /**
   * Account that the event names. Null for events of a workspace with its own key, which concern that workspace's
   * account.
   */
  readonly account: string | null;
  readonly shipment: string | null;
  /** The provider's id of the payment, or null. */
  readonly payment: string | null;
}

export interface AccountAccess {
  readonly mode: Mode;
  readonly account: string;
  /** The account's own key. `undefined` if the account is accessed with the platform's key. */
  readonly ownKey: string | undefined;
}

/**
 * Access to the provider in a mode: to an account, to the account that a key belongs to, or to the platform's account.
 */
export type ModeAccess = Pick<AccountAccess, "mode"> & Partial<AccountAccess>;

export interface AccountSnapshot {
  readonly account: string;
  readonly state: ConnectionState;
  /** Outstanding requirements, as the provider names them. */
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
 * The provider was unreachable, failed, timed out or rejected the platform's key. The call may have
 * taken effect and can be retried.
 */
export class ProviderUnavailable extends Error {
  constructor(cause: unknown) {
    super("the payment provider did not respond", { cause });
    this.name = "ProviderUnavailable";
  }
}

export type ProviderRefusalKind = "revoked" | "amount" | "failed" | "other";

/** The provider refused a call. The call had no effect. */
export class ProviderRefused extends Error {
  /**
   * `revoked`: the account or its key is inaccessible. `amount`: the amount is too small or too large. `failed`: an
   * earlier call with this idempotency key failed, and the provider repeats its error.
   */
  readonly kind: ProviderRefusalKind;
  /** The provider's error code, such as `amount_too_small`, if any. */
  readonly code: string | undefined;

  /** @param message the provider's message, without secrets */
  constructor(message: string, kind: ProviderRefusalKind, code?: string) {
    super(message);
    this.name = "ProviderRefused";
    this.kind = kind;
    this.code = code;
  }
}
