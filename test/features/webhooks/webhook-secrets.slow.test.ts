import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { beforeEach, expect, test } from "vitest";
import { createSecretSeal } from "../../../src/domain/secret-seal.ts";
import { book } from "../../support/bookings.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import { startServiceProcess } from "../../support/service-process.ts";
import { startReplica, type TestService } from "../../support/service.ts";
import { addWebhook, deliveriesOf } from "../../support/webhooks.ts";

let database: TestDatabase;
let receiver: Receiver;
beforeEach(async () => {
  database = await createDatabase();
  receiver = await startReceiver();
});

const [KEY, NEXT] = [randomBytes(32), randomBytes(32)] as const;
const idOf = (key: Buffer) => createSecretSeal([key]).keyId;

/** Returns the seal of each webhook secret, or "plain" if it is not sealed. */
async function sealedBy({ app }: TestService): Promise<string[]> {
  const rows: { secret: string }[] = await app.em.execute(
    "select one->>'secret' as secret from webhook, jsonb_array_elements(secrets) as one",
  );
  return rows.map(({ secret }) => /^sealed:([0-9a-f]{8}):/.exec(secret)?.[1] ?? "plain");
}

/** Books, and expects the only message to be signed with each of the secrets. */
async function assertSigned(service: TestService, apiKey: string, secrets: readonly string[]) {
  const { reference } = await book(service, apiKey);
  const { headers, text } = await eventually("the message", () =>
    receiver.received.find((it) => it.headers["webhook-id"] === `evt_${reference}_1`),
  );
  for (const secret of secrets) new Webhook(secret).verify(text, headers as Record<string, string>);
  expect(String(headers["webhook-signature"]).split(" ")).toHaveLength(secrets.length);
}

test("encrypts secrets in the database, including earlier ones, and the key can be changed", async () => {
  const before = await startReplica(database.url);
  const { apiKey } = await before.addWorkspace();
  const { data, secret } = await addWebhook(before, apiKey, { url: receiver.url });
  expect(await sealedBy(before)).toEqual(["plain"]);
  await before.close();

  const sealing = await startReplica(database.url, { secretsKeys: [KEY] });
  await eventually("the sealing", async () => !(await sealedBy(sealing)).includes("plain"));
  await assertSigned(sealing, apiKey, [secret]);
  const rotated = await sealing.as(apiKey).rotateWebhookSecret({ webhook: data.id });
  expect(await sealedBy(sealing)).toEqual([idOf(KEY), idOf(KEY)]);
  await assertSigned(sealing, apiKey, [rotated.body.secret, secret]);
  await sealing.close();

  const changing = await startReplica(database.url, { secretsKeys: [NEXT, KEY] });
  await eventually("all secrets to use the new key", async () => {
    const ids = await sealedBy(changing);
    return ids.every((id) => id === idOf(NEXT));
  });
  await changing.close();

  const changed = await startReplica(database.url, { secretsKeys: [NEXT] });
  await assertSigned(changed, apiKey, [rotated.body.secret, secret]);
});

test("reports secrets encrypted with a missing key, and delays their deliveries until the key is available", async () => {
  const sealing = await startReplica(database.url, { secretsKeys: [KEY] });
  const { apiKey, id } = await sealing.addWorkspace();
  const { data, secret } = await addWebhook(sealing, apiKey, { url: receiver.url });
  await sealing.close();

  const without = await startServiceProcess({
    DATABASE_URL: database.url,
    WEBHOOK_ALLOW_LOOPBACK_HTTP: "true",
    SECRETS_KEYS: NEXT.toString("base64"),
  });
  await without.untilReady();
  const counted = await eventually("the logged count", () =>
    without.log().find(({ unopened }) => unopened !== undefined),
  );
  expect(counted).toMatchObject({
    level: "error",
    msg: "no key in SECRETS_KEYS decrypts some of the stored secrets",
    webhooks: 1,
    sealed: 0,
    unopened: 1,
  });
  const { reference } = await book(without, apiKey);
  const waiting = await eventually("the log line about the webhook", () =>
    without.log().find(({ webhook }) => webhook === data.id),
  );
  expect(waiting).toMatchObject({
    level: "error",
    msg: "deliveries wait: no key in SECRETS_KEYS decrypts the secret of a webhook",
    workspace: id,
  });
  without.process.kill("SIGTERM");
  await without.ended;

  const back = await startReplica(database.url, { secretsKeys: [KEY] });
  await eventually("the delivery", () => receiver.received.length === 1);
  const [{ headers, text }] = receiver.received as [(typeof receiver.received)[0]];
  expect(headers["webhook-id"]).toBe(`evt_${reference}_1`);
  new Webhook(secret).verify(text, headers as Record<string, string>);
  await eventually("the recorded use", async () => {
    const [delivery] = await deliveriesOf(back, apiKey, data.id);
    return delivery.status === "delivered" && delivery.attempts === 1;
  });
});

test("starting without a key logs that secrets are not encrypted, if there are any", async () => {
  const service = await startReplica(database.url);
  const start = async (lines: number) => {
    const process = await startServiceProcess({ DATABASE_URL: database.url });
    await process.untilReady();
    const logged = () => process.log().filter(({ webhooks }) => webhooks !== undefined);
    await eventually("the log", () => logged().length >= lines);
    process.process.kill("SIGTERM");
    await process.ended;
    return logged();
  };
  expect(await start(0)).toEqual([]);
  const { apiKey } = await service.addWorkspace();
  await addWebhook(service, apiKey, { url: receiver.url });
  expect(await start(1)).toMatchObject([
    {
      level: "warn",
      msg: "webhook secrets are stored unencrypted: set SECRETS_KEYS to encrypt them",
      webhooks: 1,
    },
  ]);
});
