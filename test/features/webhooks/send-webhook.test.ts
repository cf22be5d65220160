import { expect, test } from "vitest";
import { expectRefused } from "../../support/answers.ts";
import { book } from "../../support/bookings.ts";
import { startReceiver } from "../../support/receiver.ts";
import { startService, type TestService } from "../../support/service.ts";
import { addWebhook, attemptsAt, hurry, untilAttempted } from "../../support/webhooks.ts";

/** Addresses that each name resolves to, one entry per lookup. The last entry repeats. */
const names = new Map<string, string[][]>();
const lookups: string[] = [];

const receiver = await startReceiver();
const service = await startService({
  outside: {
    async resolve(name) {
      lookups.push(name);
      const answers = names.get(name) ?? [[]];
      const addresses = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
      return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    },
  },
});

const NOT_PUBLIC = { status: null, error: "The address is not public.", answer: null };

/** Stores a webhook whose URL is no longer allowed, as if an older rule had allowed it. */
async function storeWebhook(at: TestService, apiKey: string, url: string): Promise<any> {
  const { data } = await addWebhook(at, apiKey, { url: "https://example.org/" });
  await at.app.em.execute("update webhook set url = ? where id = ?", [url, data.id]);
  return data;
}

async function attemptAt(url: string, at = service): Promise<any> {
  const { apiKey } = await at.addWorkspace();
  const { id } = await storeWebhook(at, apiKey, url);
  await book(at, apiKey);
  const delivery = await untilAttempted(at, apiKey, id, 1);
  const [attempt] = await attemptsAt(at, apiKey, delivery);
  return attempt;
}

test.for(["10.0.0.5", "127.0.0.1", "169.254.169.254", "::1", "::ffff:192.168.1.1"])(
  "sends no webhook to a host name that resolves to %s",
  async (address) => {
    names.set("private.example", [[address]]);
    const attempt = await attemptAt(`https://private.example:${receiver.port}/`);
    expect(attempt).toMatchObject(NOT_PUBLIC);
    expect(receiver.received).toEqual([]);
  },
);

test("sends a webhook over http only to a host name that resolves to this machine", async () => {
  names.set("lan.example", [["10.0.0.5"]]);
  expect(await attemptAt(`http://lan.example:${receiver.port}/`)).toMatchObject(NOT_PUBLIC);
  names.set("here.example", [["10.0.0.5", "127.0.0.1"]]);
  expect(await attemptAt(`http://here.example:${receiver.port}/`)).toMatchObject({ status: 204 });
  expect(receiver.received.splice(0)).toHaveLength(1);
});

test("sends a webhook to the checked address, and no more after its host name resolves to a private one", async () => {
  const closing = await startReceiver((response) => response.writeHead(204, { connection: "close" }).end());
  const { apiKey } = await service.addWorkspace();
  // The first lookup returns this machine, which the service may call over http. Later lookups
  // return another address.
  names.set("moving.example", [["127.0.0.1"], ["10.0.0.5"]]);
  lookups.length = 0;
  const url = `http://moving.example:${closing.port}/`;
  const data = await storeWebhook(service, apiKey, url);
  await book(service, apiKey);
  const first = await untilAttempted(service, apiKey, data.id, 1);
  expect(await attemptsAt(service, apiKey, first)).toMatchObject([{ status: 204 }]);
  // Check and connection share one lookup, so that the name cannot change in between.
  expect(lookups).toEqual(["moving.example"]);

  await book(service, apiKey);
  const second = await untilAttempted(service, apiKey, data.id, 1);
  expect(second.id).not.toBe(first.id);
  expect(await attemptsAt(service, apiKey, second)).toMatchObject([NOT_PUBLIC]);
  expect(closing.received).toHaveLength(1);
});

test("sends no webhook to a private address in its URL, which needs no lookup", async () => {
  expect(await attemptAt(`https://127.0.0.1:${receiver.port}/`)).toMatchObject(NOT_PUBLIC);
  expect(receiver.received).toEqual([]);
  await hurry(service);
});

test("an attempt records an unresolvable host name and a refused connection", async () => {
  const closed = await startReceiver();
  await closed.close();
  expect(await attemptAt(closed.url)).toMatchObject({ error: "The connection was refused." });
  expect(await attemptAt("https://nothing.example/")).toMatchObject(NOT_PUBLIC);
});

const NOT_BY_HTTP = {
  url: "url must begin with https://; http:// is allowed only for this machine, with WEBHOOK_ALLOW_LOOPBACK_HTTP=true.",
};

test.for(["http://example.com/", "http://10.0.0.5/"])(
  "even if http to this machine is allowed, rejects a new webhook to %s",
  async (url) => {
    const { apiKey } = await service.addWorkspace();
    await expectRefused(service.as(apiKey).createWebhook({ url }), "FIELD_INVALID", NOT_BY_HTTP);
  },
);

test("without the setting, rejects http to this machine, both for a new webhook and for a message", async () => {
  const strict = await startService({ webhookAllowLoopbackHttp: false });
  const { apiKey } = await strict.addWorkspace();
  const adding = strict.as(apiKey).createWebhook({ url: receiver.url });
  await expectRefused(adding, "FIELD_INVALID", NOT_BY_HTTP);
  expect(await attemptAt(receiver.url, strict)).toMatchObject(NOT_PUBLIC);
  expect(receiver.received).toEqual([]);
});
