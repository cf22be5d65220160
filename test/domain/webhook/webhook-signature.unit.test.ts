import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { createWebhookSecret, signWebhook } from "../../../src/domain/webhook/webhook-signature.ts";

const message = { id: "evt_SHP-000000000000_1", timestamp: 1_764_000_000, body: '{"a":"\u20AC"}' };

test("a webhook secret is whsec_ and the base64 of 24 to 64 bytes, and is always different", () => {
  const secret = createWebhookSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]+=*$/);
  const bytes = Buffer.from(secret.slice("whsec_".length), "base64").length;
  expect(bytes).toBeGreaterThanOrEqual(24);
  expect(bytes).toBeLessThanOrEqual(64);
  expect(createWebhookSecret()).not.toBe(secret);
});

test("signatures match the reference library, one per secret, separated by spaces", () => {
  const secrets = [createWebhookSecret(), createWebhookSecret()];
  const at = new Date(message.timestamp * 1_000);
  const theirs = secrets.map((it) => new Webhook(it).sign(message.id, at, message.body));
  expect(signWebhook(message, secrets)).toBe(theirs.join(" "));
});

test("signing with Standard Webhooks' example secret matches the reference library", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  expect(
    signWebhook({ id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1614265330, body: '{"test": 2432232314}' }, [secret]),
  ).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});
