import { z } from "zod";
import { ConfigError, list, originLike, SECRET } from "./variables.ts";

function keyOf(mode: "live" | "test", other: string) {
  return z
    .string()
    .regex(
      new RegExp(`^[rs]k_${mode}_\\w+$`),
      `must be a ${mode} key such as sk_${mode}_...; ${other}`,
    )
    .optional()
    .meta(SECRET);
}

/** What provider events are signed with: two while one takes the place of the other. */
const signingSecrets = list
  .refine((secrets) => secrets.length <= 2 && secrets.every((it) => it.startsWith("whsec_")), {
    error: "must be a secret such as whsec_..., or two by a comma",
  })
  .meta(SECRET);

export const STRIPE_VARIABLES = {
  STRIPE_SECRET_KEY: keyOf("live", "STRIPE_TEST_SECRET_KEY is for a test key"),
  STRIPE_WEBHOOK_SECRET: signingSecrets,
  STRIPE_TEST_SECRET_KEY: keyOf("test", "STRIPE_SECRET_KEY is for a live key"),
  STRIPE_TEST_WEBHOOK_SECRET: signingSecrets,
  STRIPE_API_URL: originLike("https://api.stripe.com"),
};
type Variables = z.output<z.ZodObject<typeof STRIPE_VARIABLES>>;

/**
 * How Stripe is reached, and the platform's account in each of its modes; workspaces may have keys of their own.
 *
 * @throws ConfigError when only one of the two is set that an account needs, and for a secret of both modes: it is
 *   the secret that says of which mode a provider event is
 */
export function readStripe(read: Variables) {
  const platformOf = (infix: "" | "TEST_") => {
    const secretKey = read[`STRIPE_${infix}SECRET_KEY`];
    const webhookSecrets = read[`STRIPE_${infix}WEBHOOK_SECRET`];
    if (secretKey !== undefined && webhookSecrets.length > 0) return { secretKey, webhookSecrets };
    if (secretKey === undefined && webhookSecrets.length === 0) return undefined;
    const missing = secretKey === undefined ? "SECRET_KEY" : "WEBHOOK_SECRET";
    throw new ConfigError(`STRIPE_${infix}${missing}: must be set for payments by Stripe`);
  };
  type Platform = ReturnType<typeof platformOf>;
  const platforms: { live?: Platform; test?: Platform } = {
    live: platformOf(""),
    test: platformOf("TEST_"),
  };
  if (platforms.test?.webhookSecrets.some((it) => platforms.live?.webhookSecrets.includes(it))) {
    throw new ConfigError(
      "STRIPE_TEST_WEBHOOK_SECRET: must not have a secret of STRIPE_WEBHOOK_SECRET, but that of the endpoint in Stripe's test mode",
    );
  }
  return { apiUrl: read.STRIPE_API_URL, platforms };
}
