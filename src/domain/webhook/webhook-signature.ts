import { createHmac, randomBytes } from "node:crypto";

/**
 * Length of a secret in bytes. Standard Webhooks allows 24 to 64 bytes. More than the 32 bytes of a SHA-256 hash add
 * little strength to an HMAC (RFC 2104, 3).
 */
const SECRET_BYTES = 32;
const PREFIX = "whsec_";

/** Creates a webhook secret: `whsec_` and random bytes in base64. */
export function createWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

export interface SignedMessage {
  /** Message id. Must not contain a full stop, which separates the parts of the signed content. */
  readonly id: string;
  /** Time of sending, in seconds since the epoch. */
  readonly timestamp: number;
  readonly body: string;
}

/**
 * Returns the value of the header `webhook-signature`: one signature per secret, separated by
 * spaces (Standard Webhooks 1.0.0, "Signature scheme").
 */
export function signWebhook(message: SignedMessage, secrets: readonly string[]): string {
  const { id, timestamp, body } = message;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return signatures.join(" ");
}
