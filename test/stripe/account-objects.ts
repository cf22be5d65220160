import type { Stripe } from "stripe";
import { newId, stringMetadata, type Stamp } from "./objects.ts";

const DUE = ["business_profile.url", "external_account", "tos_acceptance.date"];

const requirements = (due: string[] = []): Stripe.Account.Requirements => ({
  alternatives: [],
  current_deadline: null,
  currently_due: [...due],
  disabled_reason: due.length === 0 ? null : "requirements.past_due",
  errors: [],
  eventually_due: [...due],
  past_due: [...due],
  pending_verification: [],
});

/** An account that has told nothing of itself yet, and so may not charge. */
export function newAccount(
  { created }: Stamp,
  params: Stripe.AccountCreateParams = {},
  id = newId("acct"),
): Stripe.Account {
  return {
    id,
    object: "account",
    business_profile: {
      annual_revenue: null,
      estimated_worker_count: null,
      mcc: null,
      minority_owned_business_designation: null,
      name: params.business_profile?.name ?? null,
      product_description: null,
      specified_commercial_transactions_act_url: null,
      support_address: null,
      support_email: null,
      support_phone: null,
      support_url: null,
      url: params.business_profile?.url ?? null,
    },
    business_type: null,
    capabilities: { card_payments: "inactive", transfers: "inactive" },
    charges_enabled: false,
    controller: {
      fees: { payer: params.controller?.fees?.payer ?? "account" },
      is_controller: true,
      losses: { payments: params.controller?.losses?.payments ?? "stripe" },
      requirement_collection: params.controller?.requirement_collection ?? "stripe",
      stripe_dashboard: { type: params.controller?.stripe_dashboard?.type ?? "full" },
      type: "application",
    },
    country: params.country ?? "US",
    created,
    default_currency: params.default_currency ?? "usd",
    details_submitted: false,
    email: params.email ?? null,
    external_accounts: {
      object: "list",
      data: [],
      has_more: false,
      url: `/v1/accounts/${id}/external_accounts`,
    },
    future_requirements: requirements(),
    metadata: stringMetadata(params.metadata),
    payouts_enabled: false,
    requirements: requirements(DUE),
    settings: {
      bacs_debit_payments: { display_name: null, service_user_number: null },
      branding: { icon: null, logo: null, primary_color: null, secondary_color: null },
      card_issuing: { tos_acceptance: { date: null, ip: null } },
      card_payments: {
        decline_on: { avs_failure: true, cvc_failure: true },
        statement_descriptor_prefix: null,
        statement_descriptor_prefix_kana: null,
        statement_descriptor_prefix_kanji: null,
      },
      dashboard: { display_name: null, timezone: "Etc/UTC" },
      invoices: { default_account_tax_ids: null, hosted_payment_method_save: null },
      payments: {
        statement_descriptor: null,
        statement_descriptor_kana: null,
        statement_descriptor_kanji: null,
        statement_descriptor_prefix_kana: null,
        statement_descriptor_prefix_kanji: null,
      },
      payouts: {
        debit_negative_balances: true,
        schedule: { delay_days: 2, interval: "daily" },
        statement_descriptor: null,
      },
      sepa_debit_payments: {},
    },
    tos_acceptance: { date: null, ip: null, user_agent: null },
    type: params.type ?? "none",
  };
}

/** Everything told: the account may charge and be paid out. */
export function enable(account: Stripe.Account): void {
  account.charges_enabled = true;
  account.payouts_enabled = true;
  account.details_submitted = true;
  account.capabilities = { card_payments: "active", transfers: "active" };
  account.requirements = requirements();
}

/** Something is wanted of the account again: it may not charge until it is told. */
export function restrict(account: Stripe.Account): void {
  account.charges_enabled = false;
  account.payouts_enabled = false;
  account.capabilities = { card_payments: "inactive", transfers: "inactive" };
  account.requirements = requirements(["individual.verification.document"]);
}

/** A page on which an account tells of itself, for five minutes. */
export function newAccountLink({ created }: Stamp, account: string): Stripe.AccountLink {
  return {
    object: "account_link",
    created,
    expires_at: created + 300,
    url: `https://connect.stripe.com/setup/s/${account}/${newId("link")}`,
  };
}
