import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";

const LIVE = { STRIPE_SECRET_KEY: "sk_live_1", STRIPE_WEBHOOK_SECRET: "whsec_1,whsec_2" };
const TEST = { STRIPE_TEST_SECRET_KEY: "rk_test_1", STRIPE_TEST_WEBHOOK_SECRET: "whsec_3" };

test("Stripe has a platform account in each configured mode", () => {
  const live = { secretKey: "sk_live_1", webhookSecrets: ["whsec_1", "whsec_2"] };
  const inTest = { secretKey: "rk_test_1", webhookSecrets: ["whsec_3"] };
  const platformsOf = (env: object) => readConfig({ ...env }).stripe.platforms;
  expect(platformsOf({})).toEqual({});
  expect(platformsOf(LIVE)).toEqual({ live });
  expect(platformsOf(TEST)).toEqual({ test: inTest });
  expect(platformsOf({ ...LIVE, ...TEST })).toEqual({ live, test: inTest });
});

test.each([
  [{ STRIPE_SECRET_KEY: "sk_live_1" }, "STRIPE_WEBHOOK_SECRET: must be set for payments through Stripe"],
  [{ STRIPE_WEBHOOK_SECRET: "whsec_1" }, "STRIPE_SECRET_KEY: must be set for payments through Stripe"],
  [{ STRIPE_TEST_SECRET_KEY: "sk_test_1" }, "STRIPE_TEST_WEBHOOK_SECRET: must be set for payments through Stripe"],
  [{ ...LIVE, STRIPE_SECRET_KEY: "sk_test_1" }, "STRIPE_SECRET_KEY: must be a live key such as sk_live_..."],
  [{ ...TEST, STRIPE_TEST_SECRET_KEY: "sk_live_1" }, "STRIPE_TEST_SECRET_KEY: must be a test key such as sk_test_..."],
  // A secret shared by both modes would make all events belong to the first mode.
  [
    { ...LIVE, ...TEST, STRIPE_TEST_WEBHOOK_SECRET: "whsec_3,whsec_2" },
    "STRIPE_TEST_WEBHOOK_SECRET: must not contain a secret from STRIPE_WEBHOOK_SECRET",
  ],
])("refuses %j at startup", (env, fault) => {
  expect(() => readConfig(env)).toThrow(fault);
});
