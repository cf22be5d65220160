import type { Stripe } from "stripe";
import { z } from "zod";
import { invalidRequest, missingParameter, type StripeRefusal } from "./errors.ts";
import { nameOf } from "./form.ts";

/**
 * Parameters of a request by Stripe's names, each read from what a client sends for it. Of those that
 * Stripe has, the ones that nobody sends here are unknown.
 */
type Shape<P> = { readonly [K in keyof P]?: z.ZodType<P[K]> };

const text = z.string().min(1, "empty");
const integer = z
  .string()
  .regex(/^-?\d+$/, "integer")
  .transform(Number);
const metadata = z.record(z.string().max(40), z.string().max(500));
const expand = z.array(text).optional();
const page = {
  limit: integer.pipe(z.number().min(1).max(100)).optional(),
  starting_after: text.optional(),
  ending_before: text.optional(),
  expand,
};
const created = z
  .union([
    integer,
    z.strictObject({ gt: integer, gte: integer, lt: integer, lte: integer }).partial(),
  ])
  .optional();

const priceData = z.strictObject({
  currency: text,
  unit_amount: integer,
  product_data: z.strictObject({
    name: text,
    description: text.optional(),
    metadata: metadata.optional(),
  }),
} satisfies Shape<Stripe.Checkout.SessionCreateParams.LineItem.PriceData>);

const paymentIntentData = z.strictObject({
  description: text.optional(),
  metadata: metadata.optional(),
  receipt_email: text.optional(),
  statement_descriptor: text.optional(),
  statement_descriptor_suffix: text.optional(),
  application_fee_amount: integer.optional(),
  transfer_group: text.optional(),
  capture_method: z.enum(["automatic", "automatic_async"]).optional(),
} satisfies Shape<Stripe.Checkout.SessionCreateParams.PaymentIntentData>);

export const sessionCreate: z.ZodType<Stripe.Checkout.SessionCreateParams> = z.strictObject({
  mode: z.enum(["payment"]),
  success_url: text,
  allowed_payment_method_types: z
    .array(z.enum(["card", "sepa_debit", "us_bank_account", "ideal", "link"]))
    .optional(),
  cancel_url: text.optional(),
  client_reference_id: text.max(200).optional(),
  customer_email: text.optional(),
  expires_at: integer.optional(),
  expand,
  line_items: z
    .array(
      z.strictObject({
        price_data: priceData,
        quantity: integer.pipe(z.number().min(1)),
      } satisfies Shape<Stripe.Checkout.SessionCreateParams.LineItem>),
    )
    .min(1),
  locale: text.optional(),
  metadata: metadata.optional(),
  payment_intent_data: paymentIntentData.optional(),
  submit_type: z.enum(["auto", "book", "donate", "pay"]).optional(),
  ui_mode: z.enum(["hosted_page"]).optional(),
} satisfies Shape<Stripe.Checkout.SessionCreateParams>);

export const sessionList: z.ZodType<Stripe.Checkout.SessionListParams> = z.strictObject({
  ...page,
  created,
  payment_intent: text.optional(),
  status: z.enum(["complete", "expired", "open"]).optional(),
} satisfies Shape<Stripe.Checkout.SessionListParams>);

export const intentCancel: z.ZodType<Stripe.PaymentIntentCancelParams> = z.strictObject({
  cancellation_reason: z
    .enum(["abandoned", "duplicate", "fraudulent", "requested_by_customer"])
    .optional(),
  expand,
} satisfies Shape<Stripe.PaymentIntentCancelParams>);

export const intentList: z.ZodType<Stripe.PaymentIntentListParams> = z.strictObject({
  ...page,
  created,
} satisfies Shape<Stripe.PaymentIntentListParams>);

export const chargeList: z.ZodType<Stripe.ChargeListParams> = z.strictObject({
  ...page,
  created,
  payment_intent: text.optional(),
} satisfies Shape<Stripe.ChargeListParams>);

export const refundCreate: z.ZodType<Stripe.RefundCreateParams> = z
  .strictObject({
    amount: integer.pipe(z.number().min(1)).optional(),
    charge: text.optional(),
    payment_intent: text.optional(),
    reason: z.enum(["duplicate", "fraudulent", "requested_by_customer"]).optional(),
    metadata: z.union([z.literal(""), metadata]).optional(),
    refund_application_fee: z.stringbool().optional(),
    expand,
  } satisfies Shape<Stripe.RefundCreateParams>)
  .refine((sent) => sent.charge !== undefined || sent.payment_intent !== undefined, {
    path: ["payment_intent"],
  });

export const refundList: z.ZodType<Stripe.RefundListParams> = z.strictObject({
  ...page,
  created,
  charge: text.optional(),
  payment_intent: text.optional(),
} satisfies Shape<Stripe.RefundListParams>);

export const disputeList: z.ZodType<Stripe.DisputeListParams> = z.strictObject({
  ...page,
  created,
  charge: text.optional(),
  payment_intent: text.optional(),
} satisfies Shape<Stripe.DisputeListParams>);

export const eventList: z.ZodType<Stripe.EventListParams> = z.strictObject({
  ...page,
  created,
  type: text.optional(),
  types: z.array(text).max(20).optional(),
} satisfies Shape<Stripe.EventListParams>);

export const retrieve: z.ZodType<{ expand?: string[] }> = z.strictObject({ expand });

export const accountCreate: z.ZodType<Stripe.AccountCreateParams> = z.strictObject({
  country: text.length(2).optional(),
  email: text.optional(),
  default_currency: text.optional(),
  business_profile: z
    .strictObject({
      name: text.optional(),
      url: text.optional(),
    } satisfies Shape<Stripe.AccountCreateParams.BusinessProfile>)
    .optional(),
  capabilities: z
    .strictObject({
      card_payments: z.strictObject({ requested: z.stringbool().optional() }).optional(),
      transfers: z.strictObject({ requested: z.stringbool().optional() }).optional(),
    } satisfies Shape<Stripe.AccountCreateParams.Capabilities>)
    .optional(),
  controller: z
    .strictObject({
      fees: z.strictObject({ payer: z.enum(["account", "application"]) }).optional(),
      losses: z.strictObject({ payments: z.enum(["application", "stripe"]) }).optional(),
      requirement_collection: z.enum(["application", "stripe"]).optional(),
      stripe_dashboard: z.strictObject({ type: z.enum(["express", "full", "none"]) }).optional(),
    } satisfies Shape<Stripe.AccountCreateParams.Controller>)
    .optional(),
  metadata: z.union([z.literal(""), metadata]).optional(),
  type: z.enum(["custom", "express", "standard"]).optional(),
  expand,
} satisfies Shape<Stripe.AccountCreateParams>);

export const accountLinkCreate: z.ZodType<Stripe.AccountLinkCreateParams> = z.strictObject({
  account: text,
  type: z.enum(["account_onboarding", "account_update"]),
  refresh_url: text,
  return_url: text,
  collection_options: z
    .strictObject({
      fields: z.enum(["currently_due", "eventually_due"]).optional(),
      future_requirements: z.enum(["include", "omit"]).optional(),
    } satisfies Shape<Stripe.AccountLinkCreateParams.CollectionOptions>)
    .optional(),
  expand,
} satisfies Shape<Stripe.AccountLinkCreateParams>);

/**
 * Reads a request's parameters.
 *
 * @throws StripeRefusal in Stripe's words for the first that is unknown, missing or malformed
 */
export function parse<P>(schema: z.ZodType<P>, sent: unknown): P {
  const result = schema.safeParse(sent);
  if (result.success) return result.data;
  const unknown = result.error.issues.find(({ code }) => code === "unrecognized_keys");
  throw refusalOf(unknown ?? result.error.issues[0]!, sent);
}

function refusalOf(issue: z.core.$ZodIssue, sent: unknown): StripeRefusal {
  const param = nameOf(issue.path);
  const value = valueAt(sent, issue.path);
  if (issue.code === "unrecognized_keys") {
    const names = issue.keys.map((key) => nameOf([...issue.path, key]));
    return invalidRequest(
      `Received unknown parameter${names.length === 1 ? "" : "s"}: ${names.join(", ")}`,
      { code: "parameter_unknown", param: names[0]! },
    );
  }
  if (value === undefined) return missingParameter(param);
  if (value === "") {
    return invalidRequest(
      `You passed an empty string for '${param}'. We assume empty values are an attempt to unset a ` +
        `parameter; however '${param}' cannot be unset. You should remove '${param}' from your ` +
        "request or supply a non-empty value.",
      { code: "parameter_invalid_empty", param },
    );
  }
  if (issue.message === "integer") {
    return invalidRequest(
      `Invalid integer: ${typeof value === "string" ? value : JSON.stringify(value)}`,
      {
        code: "parameter_invalid_integer",
        param,
      },
    );
  }
  if (issue.code === "invalid_value") {
    return invalidRequest(`Invalid ${param}: must be one of ${issue.values.join(", ")}`, { param });
  }
  return invalidRequest(`Invalid ${param}: ${issue.message}`, { param });
}

function valueAt(sent: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined,
    sent,
  );
}
