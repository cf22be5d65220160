import { createHmac, randomBytes } from "node:crypto";

/** A secret of Standard Webhooks has 24 to 64 bytes; this is what HMAC-SHA256 makes the most of. */
const SECRET_BYTES = 32;
const PREFIX = "whsec_";

/** A new secret to sign with: `whsec_` and base64. */
export function mintWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** What is signed of a message. */
export interface SignedMessage {
  /** Has no full stop in it. */
  readonly id: string;
  /** When it is sent, in seconds since the epoch. */
  readonly timestamp: number;
  readonly body: string;
}

/**
 * The header `webhook-signature`: a signature with each secret, parted by spaces (Standard Webhooks
 * 1.0.0, "Signature scheme").
 */
export function signWebhook(message: SignedMessage, secrets: readonly string[]): string {
  const { id, timestamp, body } = message;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return signatures.join(" ");
}
