import { z } from "zod";
import { ConfigError, list, originLike, SECRET } from "./variables.ts";

function keyOf(mode: "live" | "test", other: string) {
  return z
    .string()
    .regex(new RegExp(`^[rs]k_${mode}_\\w+$`), `must be a ${mode} key such as sk_${mode}_... ${other}`)
    .optional()
    .meta(SECRET);
}

/** Secrets that sign provider events. During a rotation there are two. */
const signingSecrets = list
  .refine((secrets) => secrets.length <= 2 && secrets.every((it) => it.startsWith("whsec_")), {
    error: "must be a secret such as whsec_..., or two secrets separated by a comma",
  })
  .meta(SECRET);

export const STRIPE_VARIABLES = {
  STRIPE_SECRET_KEY: keyOf("live", "Set test keys in STRIPE_TEST_SECRET_KEY"),
  STRIPE_WEBHOOK_SECRET: signingSecrets,
  STRIPE_TEST_SECRET_KEY: keyOf("test", "Set live keys in STRIPE_SECRET_KEY"),
  STRIPE_TEST_WEBHOOK_SECRET: signingSecrets,
  STRIPE_API_URL: originLike("https://api.stripe.com"),
};
type Variables = z.output<z.ZodObject<typeof STRIPE_VARIABLES>>;

/**
 * Reads the connection to Stripe and the platform's account in each mode. Workspaces can have their own keys.
 *
 * @throws ConfigError if only one of the two settings of an account is set, or if both modes share a
 *   secret, because the secret determines the mode of an event
 */
export function readStripe(read: Variables) {
  const platformOf = (infix: "" | "TEST_") => {
    const secretKey = read[`STRIPE_${infix}SECRET_KEY`];
    const webhookSecrets = read[`STRIPE_${infix}WEBHOOK_SECRET`];
    if (secretKey !== undefined && webhookSecrets.length > 0) return { secretKey, webhookSecrets };
    if (secretKey === undefined && webhookSecrets.length === 0) return undefined;
    const missing = secretKey === undefined ? "SECRET_KEY" : "WEBHOOK_SECRET";
    throw new ConfigError(`STRIPE_${infix}${missing}: must be set for payments through Stripe`);
  };
  type Platform = ReturnType<typeof platformOf>;
  const platforms: { live?: Platform; test?: Platform } = {
    live: platformOf(""),
    test: platformOf("TEST_"),
  };
  if (platforms.test?.webhookSecrets.some((it) => platforms.live?.webhookSecrets.includes(it))) {
    throw new ConfigError(
      "STRIPE_TEST_WEBHOOK_SECRET: must not contain a secret from STRIPE_WEBHOOK_SECRET. Use the secret of the endpoint in Stripe's test mode",
    );
  }
  return { apiUrl: read.STRIPE_API_URL, platforms };
}
