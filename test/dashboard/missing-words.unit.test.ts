import { expect, test } from "vitest";
import { missingWords } from "../../src/dashboard/workspaces/missing-words.ts";

test("describes missing Stripe information once each, and unknown items by their name", () => {
  expect(
    missingWords([
      "external_account",
      "individual.dob.day",
      "individual.dob.month",
      "individual.verification.document",
      "business_profile.url",
      "business_profile.mcc",
      "person_8UayFKIMRJklog.first_name",
      "tos_acceptance.date",
      "moon.surface_area",
    ]),
  ).toEqual([
    "A bank account to pay out to",
    "Details of the sole proprietor",
    "An identity document",
    "The business’s website",
    "Product or service of the business",
    "Details of owners and directors",
    "Your agreement to Stripe’s terms",
    "Moon surface area",
  ]);
});
