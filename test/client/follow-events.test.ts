import { beforeAll, expect, test } from "vitest";
import { createClient, ShipmentsError, type Client, type Event } from "../../src/client/client.ts";
import { bookAnd } from "../support/bookings.ts";
import { sharedService, type TestService } from "../support/service.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

let service: TestService;

beforeAll(async () => {
  service = await sharedService();
});

/** Creates a workspace without events, and a client for it, by default at the service's URL. */
async function newClient(options: { url?: string; fetch?: typeof fetch } = {}) {
  const { apiKey: key } = await service.addWorkspace();
  const client = createClient({
    url: service.httpUrl,
    retry: { baseMs: 1 },
    ...options,
    key,
  });
  return { client, book: () => bookAnd(service, key, ["cancel"]) };
}

/** Reads a feed until this many events have arrived. Calls `onEvent` with each event. */
async function read(
  feed: AsyncIterable<Event>,
  count: number,
  got: (position: number) => unknown = () => {},
): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of feed) {
    events.push(event);
    await got(Number(event.position));
    if (events.length === count) break;
  }
  return events;
}

/** Returns all events in a workspace's feed. */
async function allOf({ events }: Client): Promise<Event[]> {
  return (await events.listEvents({ pageSize: 100 })).data;
}

test("the feed returns past events, then new ones", async () => {
  const { client, book } = await newClient();
  await book();
  const events = await read(client.events.follow(), 4, (position) => position === 2 && book());
  expect(events).toEqual(await allOf(client));
  expect(events.map(({ position }) => position)).toEqual([1n, 2n, 3n, 4n]);
});

test("the feed continues after a position, or starts with new events", async () => {
  const { client, book } = await newClient();
  await book();
  await book();
  const [, , third, fourth] = await allOf(client);
  expect(await read(client.events.follow({ after: 2n }), 2)).toEqual([third, fourth]);
  const following = client.events.follow({ after: "now", types: ["shipment.cancelled"] });
  let next: Event | undefined;
  const found = following.next().then(({ value }) => (next = value ?? undefined));
  // Until the reader has found the current position, it treats new events as past ones.
  while (next === undefined) await book();
  await found;
  expect(next).toMatchObject({ type: "shipment.cancelled" });
  expect(next.position).toBeGreaterThan(4n);
  await following.return();
});

test("the feed of a workspace without events starts with the first new event", async () => {
  const { client, book } = await newClient();
  const feed = read(client.events.follow(), 2);
  await book();
  expect(await feed).toEqual(await allOf(client));
});

test("skips and repeats no event while connections break", async () => {
  const proxy = await startTcpProxy(service.httpUrl);
  const { client, book } = await newClient({ url: proxy.url });
  await book();
  const feed = client.events.follow({ pollMs: 1 });
  const events = await read(feed, 40, async (position) => {
    if (position % 2 === 1 || position === 40) return;
    if (position % 3 === 0) proxy.cut();
    await book();
  });
  expect(events.map(({ position }) => Number(position))).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
  expect(events).toEqual(await allOf(client));
});

test("polls pages of the feed if streams are blocked", async () => {
  let streams = 0;
  const withoutStreams: typeof fetch = (url, init) => {
    if (!(url as string).endsWith("WatchEvents")) return fetch(url, init);
    streams++;
    return streams % 2 === 1
      ? Promise.reject(new TypeError("no streams here"))
      : Promise.resolve(new Response("nor here", { status: 501 }));
  };
  const { client, book } = await newClient({ fetch: withoutStreams });
  await book();
  const feed = client.events.follow({ pollMs: 1 });
  const events = await read(feed, 20, (position) => position % 2 === 0 && position < 20 && book());
  expect(events).toEqual(await allOf(client));
  expect(streams).toBeGreaterThan(1);
});

test("the feed ends when its signal aborts", async () => {
  const { client, book } = await newClient();
  const controller = new AbortController();
  await book();
  const { signal } = controller;
  const events = await read(client.events.follow({ signal }), 9, (position) => {
    if (position === 2) controller.abort();
  });
  expect(events).toEqual(await allOf(client));
});

test("the feed fails when its key is revoked", async () => {
  const { client, book } = await newClient();
  // Adds another key, because a workspace's last key cannot be revoked.
  await client.apiKeys.createApiKey({ name: "other" });
  const { data: keys } = await client.apiKeys.listApiKeys({});
  await book();
  const feed = client.events.follow();
  await feed.next();
  await client.apiKeys.revokeApiKey({ key: keys.find(({ current }) => current)!.id });
  const failed = read(feed, 9);
  await expect(failed).rejects.toThrow(ShipmentsError);
  await expect(failed).rejects.toMatchObject({ reason: "CREDENTIAL_REFUSED" });
});
