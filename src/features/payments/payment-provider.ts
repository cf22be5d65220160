import type { DisputeStatus } from "../../domain/shipment/payment-details.ts";
import type { Mode } from "../../domain/mode.ts";
import type {
  ConnectionState,
  PaymentProviderName,
} from "../workspaces/payment-connection.entity.ts";

/** Through whom a workspace is paid. */
export interface PaymentProvider {
  readonly name: PaymentProviderName;
  /** Undefined where the workspace takes the money itself, and its word is taken for payments and refunds. */
  readonly online: OnlinePayments | undefined;
}

/**
 * A provider that takes money online. It has two modes, between which nothing is shared: workspaces are paid
 * in its live mode, their test twins in its test mode, in which no real money moves. What calls it takes up
 * to 10 seconds: never in a transaction.
 *
 * @throws (from each that calls it) ProviderUnanswered when it cannot be told what came of the call;
 * ProviderRefused when it refused the call, which changed nothing
 */
export interface OnlinePayments {
  /** Why the platform itself has no account in a mode; undefined when it has. */
  platformFault(mode: Mode): string | undefined;
  /** Why a key is none of a mode, as in "restricted_key must be ..."; undefined when it is. Makes no call. */
  keyFault(ownKey: string, mode: Mode): string | undefined;
  /** The header that signs its notices, in lower case. */
  readonly signatureHeader: string;
  /**
   * Makes an account for a workspace; when repeated with the same key, gives the same one. Keys hold within
   * this installation, here and below: its id is added to each, and to what is kept there with the object.
   */
  createAccount(mode: Mode, workspace: number, idempotencyKey: string): Promise<AccountAtProvider>;
  /** A link to what the provider still has to know about an account. */
  createOnboardingLink(access: AccountAccess, urls: OnboardingUrls): Promise<OnboardingLink>;
  /** Reads an account; without its id, the one that the key is of. */
  readAccount(access: ModeAccess): Promise<AccountAtProvider>;
  /** Why an amount cannot be paid there, as in "total must be ..."; undefined when it can. Makes no call. */
  amountFault(amountMinor: number, currency: string): string | undefined;
  /** Opens a checkout; when repeated with the same key, gives the same one. */
  openCheckout(
    access: AccountAccess,
    checkout: NewCheckout,
    idempotencyKey: string,
  ): Promise<OpenedCheckout>;
  /** Ends a checkout that is open; does nothing to one that is not. */
  endCheckout(access: AccountAccess, checkout: string): Promise<void>;
  /** Reads a payment with its refunds and its dispute. */
  findPayment(access: AccountAccess, checkout: string): Promise<FoundPayment>;
  /** Asks for a refund; when repeated with the same key, for no other one. */
  refund(access: AccountAccess, refund: NewRefund, idempotencyKey: string): Promise<void>;
  /**
   * Lists what the provider has told of refunds and disputes in a span of time, a page at a time, the
   * newest first: of a payment that is settled nothing else would tell, should the notice be lost.
   */
  listNotices(access: AccountAccess, span: NoticeSpan): Promise<ListedNotices>;
  /**
   * Checks that a notice is the provider's, and reads it, without a call.
   *
   * @param owner whose secrets it must be signed with
   * @returns undefined for one that is about nothing of ours
   * @throws ProviderRefused when it is not signed, or was too long ago
   */
  readNotice(notice: SignedNotice, owner: NoticeOwner): Promise<Notice | undefined>;
}

/** A checkout to open. Amounts are in minor units by ISO 4217, here and below. */
export interface NewCheckout {
  readonly workspace: number;
  readonly shipment: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly expiresAt: Date;
}

export interface OpenedCheckout {
  readonly checkout: string;
}

/** What a provider says of a payment. */
export interface FoundPayment {
  /** When the checkout was opened; null when it never was. */
  readonly openedAt: Date | null;
  /** Null when it cannot be paid any more. */
  readonly checkout: { readonly url: string; readonly expiresAt: Date } | null;
  /** `unpaid` while nobody has paid; `failed` when it can be paid no more. */
  readonly status: "unpaid" | "processing" | "paid" | "failed";
  /** Why the last attempt failed; null when none did. */
  readonly error: string | null;
  /** The workspace and shipment that it names, as `7 SHP-4T8ZK2M0QWXE`; null when it names none. */
  readonly reference: string | null;
  /** The provider's id of the payment; null while nobody has tried to pay. */
  readonly payment: string | null;
  readonly amountMinor: number;
  readonly currency: string;
  readonly refunds: readonly FoundRefund[];
  readonly dispute: DisputeStatus | null;
  /** Whether the provider refuses refunds until an open dispute is decided. */
  readonly isRefundBlocked: boolean;
  /** Sum of the lost disputes. */
  readonly lostMinor: number;
}

/** A refund at a provider, by us or by hand. */
export interface FoundRefund {
  readonly status: "pending" | "succeeded" | "failed";
  readonly amountMinor: number;
  /** Which attempt of ours it is; null for one by hand. */
  readonly attempt: number | null;
  /** Why it failed; null when it did not. */
  readonly error: string | null;
}

export interface NewRefund {
  readonly payment: string;
  readonly amountMinor: number;
  readonly currency: string;
  /** Counts from 1. */
  readonly attempt: number;
}

export interface SignedNotice {
  readonly body: Buffer;
  readonly signature: string;
  readonly receivedAt: Date;
}

/** What notices to list: of a span of time with both of its ends, in whole seconds. */
export interface NoticeSpan {
  readonly from: Date;
  readonly to: Date;
  /** Those before this one, which the page before has named as its `next`; the newest unless given. */
  readonly after?: string;
}

export interface ListedNotices {
  readonly notices: readonly Notice[];
  /** What the next page is after; undefined on the last. */
  readonly next: string | undefined;
}

/** Whom a notice is sent to: the platform, or a workspace with a key of its own. */
export interface NoticeOwner {
  /** Undefined for the platform. */
  readonly own: NoticeSigner | undefined;
}

/** What the notices of a mode are signed with. */
export interface NoticeSigner {
  readonly mode: Mode;
  readonly secrets: readonly string[];
}

export interface Notice {
  readonly id: string;
  readonly type: string;
  /** Whether it is of the live mode. */
  readonly live: boolean;
  /** The account that it is about; null where that is the key's own. */
  readonly account: string | null;
  /** The shipment that it names; null when it names none. */
  readonly shipment: string | null;
  /** The provider's id of the payment that it is about; null when it is about none. */
  readonly payment: string | null;
}

/** How to act for an account at a provider. */
export interface AccountAccess {
  readonly mode: Mode;
  readonly account: string;
  /** A key of the account's own; undefined where the platform acts for it by its own. */
  readonly ownKey: string | undefined;
}

/** How to act in a mode: for no account yet, unless by its key. */
export type ModeAccess = Pick<AccountAccess, "mode"> & Partial<AccountAccess>;

/** An account at a provider, as it was when it was read. */
export interface AccountAtProvider {
  readonly account: string;
  readonly state: ConnectionState;
  /** What the provider still has to know, in its own names. */
  readonly missing: readonly string[];
}

/** Where a provider sends whoever is done, and whoever comes by a link that has ended. */
export interface OnboardingUrls {
  readonly returnUrl: string;
  readonly refreshUrl: string;
}

export interface OnboardingLink {
  readonly url: string;
  readonly expiresAt: Date;
}

/**
 * The provider could not be reached, failed, did not answer in time, or does not know the platform any more:
 * the call may have been carried out, and is worth another try.
 */
export class ProviderUnanswered extends Error {
  constructor(cause: unknown) {
    super("the payment provider did not answer", { cause });
    this.name = "ProviderUnanswered";
  }
}

/** What a refusal of the provider means to us. */
export type ProviderRefusalKind = "revoked" | "amount" | "failed" | "other";

/** The provider refused a call, and carried nothing out. */
export class ProviderRefused extends Error {
  /**
   * `revoked`: the account or its key is not open to us any more; `amount`: too small or too large;
   * `failed`: an earlier call under this key failed, whatever it did, and so will all that repeat it.
   */
  readonly kind: ProviderRefusalKind;
  /** The provider's own code, such as `amount_too_small`; undefined when it gives none. */
  readonly code: string | undefined;

  /** @param message the provider's words, without a secret */
  constructor(message: string, kind: ProviderRefusalKind, code?: string) {
    super(message);
    this.name = "ProviderRefused";
    this.kind = kind;
    this.code = code;
  }
}
