import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { isLost, plainText, problemOf } from "../../src/dashboard/api/problem.ts";
import { Refusal, type Violation, refuse, unavailable } from "../../src/domain/refusal.ts";
import { providerUnavailable } from "../../src/features/payments/payment-connections.ts";
import { connectError } from "../../src/transport/connect/connect-error.ts";

test("an error's texts are assigned to their fields", () => {
  const error = connectError(refuse("FIELD_INVALID", "must be a latitude", { subject: "pickup_lat" }));
  expect(problemOf(error)).toMatchObject({
    code: Code.InvalidArgument,
    reason: "FIELD_INVALID",
    fields: { pickup_lat: ["must be a latitude"] },
  });
});

test("a precondition's text is assigned to its subject", () => {
  const error = connectError(refuse("SHIPMENT_STATE", "It is delivered.", { subject: "shipment" }));
  expect(problemOf(error)).toMatchObject({
    code: Code.FailedPrecondition,
    reason: "SHIPMENT_STATE",
    fields: { shipment: ["It is delivered."] },
  });
});

test("the service is lost if it refuses calls, but not if a payment provider does not respond", () => {
  expect(isLost(connectError(unavailable("The service is shutting down.")))).toBe(true);
  const silent = connectError(providerUnavailable(undefined));
  expect(isLost(silent)).toBe(false);
  expect(problemOf(silent).message).toBe("The payment provider does not respond. Try again in a moment.");
});

test.each([
  ["customer_name", "customer_name is required.", "Name is required."],
  ["to_date", "to_date must not be before from_date.", "To date must not be before “First day”."],
  ["tiers[0].max_kg", "must be above min_kg.", "must be above “Over, kg”."],
  ["metadata", 'metadata["a b"] must be short.', "Notes “a b” must be short.", 'metadata["a b"]'],
  ["email", "email is taken by from_date@x.org, at /from_date.", "Email is taken by from_date@x.org, at /from_date."],
])("an error for %s uses the page's labels and keeps the user's text", (name, text, message, about = name) => {
  const labels = new Map([
    ["customer_name", "Name"],
    ["from_date", "First day"],
    ["tiers[0].min_kg", "Over, kg"],
    ["metadata", "Notes"],
  ]);
  expect(plainText(text, about, labels)).toBe(message);
});

test("a message is that of the first problem, without API names", () => {
  const problems = ["weight_kg", "pickup_lat"].map((subject) => ({
    reason: "FIELD_INVALID" as const,
    subject,
    text: `${subject} is required.`,
  }));
  const error = connectError(new Refusal(problems as [Violation, ...Violation[]]));
  expect(problemOf(error).message).toBe("Weight kg is required.");
});

test("an unreachable service has its own message instead of the browser's", () => {
  const error = ConnectError.from(new TypeError("Failed to fetch"));
  expect(problemOf(error)).toMatchObject({ message: "The service cannot be reached.", fields: {} });
});
