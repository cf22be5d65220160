import { expect, test } from "vitest";
import {
  fromStripeAmount,
  stripeAmountFault,
  toStripeAmount,
} from "../../../../src/features/payments/stripe/stripe-amounts.ts";

test.for([
  ["USD", 1_269, 1_269],
  ["JPY", 500, 500],
  ["KWD", 12_340, 12_340],
  // ISO 4217 and Stripe use a different number of decimals for these currencies.
  ["ISK", 500, 50_000],
  ["UGX", 4_000, 400_000],
  ["MGA", 500_000, 5_000],
] as const)("%s %i is %i at Stripe, in both directions", ([currency, minor, amount]) => {
  expect(stripeAmountFault(minor, currency)).toBeUndefined();
  expect(toStripeAmount(minor, currency)).toBe(amount);
  expect(fromStripeAmount(amount, currency)).toBe(minor);
});

test.for([
  ["USD", 0, "must be above 0 to be paid at a checkout. Record a payment of 0 instead."],
  ["USD", 49, "must be at least 0.5 USD to be paid at a checkout."],
  ["JPY", 49, "must be at least 50 JPY to be paid at a checkout."],
  ["HUF", 17_499, "must be at least 175 HUF to be paid at a checkout."],
  ["KWD", 12_345, "must be a multiple of 0.01 KWD to be paid at a checkout."],
  ["MGA", 500_050, "must be a multiple of 1 MGA to be paid at a checkout."],
  ["USD", 100_000_000, "must be at most 999999.99 USD to be paid at a checkout."],
  ["ISK", 1_000_000, "must be at most 999999 ISK to be paid at a checkout."],
] as const)("rejects %s %i", ([currency, minor, fault]) => {
  expect(stripeAmountFault(minor, currency)).toBe(fault);
});

test.for([
  ["USD", 50],
  ["JPY", 50],
  ["HUF", 17_500],
  ["USD", 99_999_999],
] as const)("accepts %s %i, a minimum or maximum", ([currency, minor]) => {
  expect(stripeAmountFault(minor, currency)).toBeUndefined();
});
