import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { verifyWebhook, WebhookError } from "../../src/client/verify-webhook.ts";

const GUIDE = readFileSync("src/docs/webhooks.md", "utf8");
const [, vector, body] = /```text\n(whsec_[^`]+)```[^`]*```text\n([^`]+)\n```/.exec(GUIDE)!;
const [secret = "", , ...lines] = vector!.trim().split("\n");
const headers = Object.fromEntries(lines.map((line) => line.split(": ")));
const nowMs = Number(headers["webhook-timestamp"]) * 1_000;

test("the example of a signed message has a valid signature", async () => {
  const event = await verifyWebhook(secret, headers, body!, { nowMs });
  expect(event).toMatchObject({ id: headers["webhook-id"], type: "webhook.test" });
});

test("rejects the example after a change", async () => {
  const changed = verifyWebhook(secret, headers, `${body!}\n`, { nowMs });
  await expect(changed).rejects.toThrow(WebhookError);
});
