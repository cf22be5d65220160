import { randomBytes } from "node:crypto";
import type { Stripe } from "stripe";

/** An id as Stripe makes them: `re_1` and 22 letters and digits. */
export function newId(prefix: string): string {
  return `${prefix}_1${randomBytes(11).toString("hex")}`;
}

/** The id behind a field that may hold the object itself. */
export function idOf(field: string | { readonly id: string } | null): string | undefined {
  return typeof field === "object" ? field?.id : field;
}

const NO_ADDRESS: Stripe.Address = {
  city: null,
  country: null,
  line1: null,
  line2: null,
  postal_code: null,
  state: null,
};

/** What is stamped on every new object. */
export interface Stamp {
  /** Seconds since 1970. */
  readonly created: number;
  readonly livemode: boolean;
}

/** An open session; its amounts in the currency's smallest unit. */
export function newSession(
  { created, livemode }: Stamp,
  amount: number,
  currency: string,
  params: Stripe.Checkout.SessionCreateParams,
): Stripe.Checkout.Session {
  const id = newId(`cs_${livemode ? "live" : "test"}`);
  return {
    id,
    object: "checkout.session",
    adaptive_pricing: { enabled: false },
    after_expiration: null,
    allow_promotion_codes: null,
    allowed_payment_method_types: params.allowed_payment_method_types ?? null,
    amount_subtotal: amount,
    amount_total: amount,
    automatic_tax: { enabled: false, liability: null, provider: null, status: null },
    billing_address_collection: null,
    cancel_url: params.cancel_url ?? null,
    client_reference_id: params.client_reference_id ?? null,
    client_secret: null,
    collected_information: { business_name: null, individual_name: null, shipping_details: null },
    consent: null,
    consent_collection: null,
    created,
    currency,
    currency_conversion: null,
    custom_fields: [],
    custom_text: {
      after_submit: null,
      shipping_address: null,
      submit: null,
      terms_of_service_acceptance: null,
    },
    customer: null,
    customer_account: null,
    customer_creation: "if_required",
    customer_details: null,
    customer_email: params.customer_email ?? null,
    discounts: [],
    expires_at: params.expires_at ?? created + 24 * 60 * 60,
    integration_identifier: null,
    invoice: null,
    invoice_creation: {
      enabled: false,
      invoice_data: {
        account_tax_ids: null,
        custom_fields: null,
        description: null,
        footer: null,
        issuer: null,
        metadata: {},
        rendering_options: null,
      },
    },
    livemode,
    locale: params.locale ?? null,
    managed_payments: { enabled: false },
    metadata: stringMetadata(params.metadata),
    mode: "payment",
    origin_context: null,
    payment_intent: null,
    payment_link: null,
    payment_method_collection: "if_required",
    payment_method_configuration_details: null,
    payment_method_options: { card: { request_three_d_secure: "automatic" } },
    payment_method_types: params.allowed_payment_method_types ?? ["card"],
    payment_status: amount === 0 ? "no_payment_required" : "unpaid",
    permissions: null,
    phone_number_collection: { enabled: false },
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: null,
    shipping_cost: null,
    shipping_options: [],
    status: "open",
    submit_type: params.submit_type ?? null,
    subscription: null,
    success_url: params.success_url ?? null,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: "hosted_page",
    url: `https://checkout.stripe.com/c/pay/${id}`,
    wallet_options: null,
  };
}

/** Metadata as objects hold it: numbers as text, and no nulls. */
export function stringMetadata(
  sent: Stripe.MetadataParam | "" | null | undefined,
): Stripe.Metadata {
  return Object.fromEntries(
    Object.entries(sent || {}).flatMap(([key, value]) =>
      value === null || value === "" ? [] : [[key, String(value)]],
    ),
  );
}

/** An intent that awaits a payment method. */
export function newIntent(
  { created, livemode }: Stamp,
  amount: number,
  currency: string,
  params: Stripe.Checkout.SessionCreateParams.PaymentIntentData = {},
): Stripe.PaymentIntent {
  const id = newId("pi");
  return {
    id,
    object: "payment_intent",
    allowed_payment_method_types: null,
    amount,
    amount_capturable: 0,
    amount_details: { tip: {} },
    amount_received: 0,
    application: null,
    application_fee_amount: params.application_fee_amount ?? null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: params.capture_method ?? "automatic_async",
    client_secret: `${id}_secret_${randomBytes(12).toString("hex")}`,
    confirmation_method: "automatic",
    created,
    currency,
    customer: null,
    customer_account: null,
    description: params.description ?? null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode,
    managed_payments: { enabled: false },
    metadata: stringMetadata(params.metadata),
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: {
      card: {
        installments: null,
        mandate_options: null,
        network: null,
        request_three_d_secure: "automatic",
      },
    },
    payment_method_types: ["card"],
    payment_record: null,
    processing: null,
    receipt_email: params.receipt_email ?? null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: params.statement_descriptor ?? null,
    statement_descriptor_suffix: params.statement_descriptor_suffix ?? null,
    status: "requires_payment_method",
    transfer_data: null,
    transfer_group: params.transfer_group ?? null,
  };
}

/** A charge of an intent's whole amount. */
export function newCharge(
  { created, livemode }: Stamp,
  intent: Stripe.PaymentIntent,
  status: "succeeded" | "pending" | "failed",
): Stripe.Charge {
  const succeeded = status === "succeeded";
  return {
    id: newId("ch"),
    object: "charge",
    amount: intent.amount,
    amount_captured: succeeded ? intent.amount : 0,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: intent.application_fee_amount,
    balance_transaction: succeeded ? newId("txn") : null,
    billing_details: { address: NO_ADDRESS, email: null, name: null, phone: null, tax_id: null },
    calculated_statement_descriptor: "STRIPE",
    captured: succeeded,
    created,
    currency: intent.currency,
    customer: null,
    description: intent.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: status === "failed" ? "card_declined" : null,
    failure_message: status === "failed" ? "Your card was declined." : null,
    fraud_details: {},
    livemode,
    metadata: { ...intent.metadata },
    on_behalf_of: null,
    outcome: {
      advice_code: null,
      network_advice_code: null,
      network_decline_code: null,
      network_status: status === "failed" ? "declined_by_network" : "approved_by_network",
      reason: status === "failed" ? "generic_decline" : null,
      seller_message: status === "failed" ? "The bank declined the payment." : "Payment complete.",
      type: status === "failed" ? "issuer_declined" : "authorized",
    },
    paid: status !== "failed",
    payment_intent: intent.id,
    payment_method: newId("pm"),
    payment_method_details: {
      type: "card",
      card: {
        amount_authorized: intent.amount,
        authorization_code: null,
        brand: "visa",
        checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: "pass" },
        country: "US",
        electronic_commerce_indicator: null,
        exp_month: 8,
        exp_year: 2030,
        extended_authorization: { status: "disabled" },
        fingerprint: "AOB934RVNwzk6xtn",
        funding: "credit",
        incremental_authorization: { status: "unavailable" },
        installments: null,
        last4: "4242",
        mandate: null,
        multicapture: { status: "unavailable" },
        network: "visa",
        network_token: { used: false },
        network_transaction_id: null,
        overcapture: { maximum_amount_capturable: intent.amount, status: "unavailable" },
        regulated_status: null,
        three_d_secure: null,
        transaction_link_id: null,
        wallet: null,
      },
    },
    receipt_email: intent.receipt_email,
    receipt_number: null,
    receipt_url: "https://pay.stripe.com/receipts/payment/a-receipt",
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status,
    transfer_data: null,
    transfer_group: intent.transfer_group,
  };
}

/** How a refund stands: what is pending or requires action may yet succeed or fail. */
export type RefundStatus = "pending" | "requires_action" | "succeeded" | "failed" | "canceled";

/** A refund of a charge; its amount in the currency's smallest unit. */
export function newRefund(
  { created }: Stamp,
  charge: Stripe.Charge,
  amount: number,
  status: RefundStatus,
  { reason, metadata }: Pick<Stripe.RefundCreateParams, "reason" | "metadata"> = {},
): Stripe.Refund {
  return {
    id: newId("re"),
    object: "refund",
    amount,
    balance_transaction: newId("txn"),
    charge: charge.id,
    created,
    currency: charge.currency,
    customer: null,
    customer_account: null,
    destination_details: { type: "card", card: { type: "refund" } },
    metadata: stringMetadata(metadata),
    payment_intent: charge.payment_intent,
    payment_method: charge.payment_method,
    ...(status === "pending" ? { pending_reason: "processing" } : {}),
    reason: reason ?? null,
    receipt_number: null,
    source_transfer_reversal: null,
    status,
    transfer_reversal: null,
  };
}

/**
 * A dispute of a whole charge.
 *
 * @param inquiry whether the bank only asks as yet, so that no funds are withdrawn
 */
export function newDispute(
  { created, livemode }: Stamp,
  charge: Stripe.Charge,
  amount: number,
  inquiry: boolean,
): Stripe.Dispute {
  return {
    id: newId("du"),
    object: "dispute",
    amount,
    balance_transactions: [],
    charge: charge.id,
    created,
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: {
      access_activity_log: null,
      billing_address: null,
      cancellation_policy: null,
      cancellation_policy_disclosure: null,
      cancellation_rebuttal: null,
      customer_communication: null,
      customer_email_address: null,
      customer_name: null,
      customer_purchase_ip: null,
      customer_signature: null,
      duplicate_charge_documentation: null,
      duplicate_charge_explanation: null,
      duplicate_charge_id: null,
      enhanced_evidence: {},
      product_description: null,
      receipt: null,
      refund_policy: null,
      refund_policy_disclosure: null,
      refund_refusal_explanation: null,
      service_date: null,
      service_documentation: null,
      shipping_address: null,
      shipping_carrier: null,
      shipping_date: null,
      shipping_documentation: null,
      shipping_tracking_number: null,
      uncategorized_file: null,
      uncategorized_text: null,
    },
    evidence_details: {
      due_by: created + 7 * 24 * 60 * 60,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: "not_submitted",
    },
    intended_submission_method: null,
    is_charge_refundable: inquiry,
    livemode,
    metadata: {},
    payment_intent: charge.payment_intent,
    payment_method_details: {
      type: "card",
      card: {
        brand: "visa",
        case_type: inquiry ? "inquiry" : "chargeback",
        network: "visa",
        network_reason_code: "10.4",
      },
    },
    reason: "general",
    status: inquiry ? "warning_needs_response" : "needs_response",
  };
}
