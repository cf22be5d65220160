import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ListEventsResponseSchema, WatchEventsResponseSchema } from "../../gen/shipments/v1/event_service_pb.js";
import { followEvents } from "../../src/client/follow-events.ts";
import { ShipmentsError } from "../../src/client/shipments-error.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Creates a feed with events at these positions. Its streams send the given messages and then stay silent. */
function silentFeed(positions: readonly number[], responses: readonly number[][]) {
  const streams: (string | undefined)[] = [];
  const pages: (string | undefined)[] = [];
  const eventAt = (position: number) => ({ id: `evt_${position}`, position: BigInt(position) });
  async function* watchEvents({ after }: any, { signal }: any = {}) {
    const sentPositions = responses[streams.push(after) - 1] ?? [];
    for (const position of sentPositions) {
      const message = { data: eventAt(position), cursor: String(position) };
      yield create(WatchEventsResponseSchema, message);
    }
    await new Promise((_, reject) => signal.addEventListener("abort", reject));
  }
  const listEvents: any = async ({ after = "0" }: any) => {
    pages.push(after);
    const data = positions.filter((each) => each > Number(after)).map(eventAt);
    const cursor = String(positions.at(-1));
    return create(ListEventsResponseSchema, { data, cursor, hasMore: false });
  };
  return { streams, pages, events: { watchEvents, listEvents } as any };
}

test("replaces a stream that sends nothing for 10 s with polling, then tries the stream again", async () => {
  const { streams, pages, events } = silentFeed([1, 2], []);
  const feed = followEvents(events);
  const first = feed.next();
  await vi.advanceTimersByTimeAsync(9_999);
  expect({ streams, pages }).toEqual({ streams: [undefined], pages: [] });
  await vi.advanceTimersByTimeAsync(1);
  expect((await first).value).toMatchObject({ position: 1n });
  expect((await feed.next()).value).toMatchObject({ position: 2n });
  const next = feed.next();
  await vi.advanceTimersByTimeAsync(10_000 + 2 * 2_000);
  expect({ streams, pages }).toEqual({
    streams: [undefined, "2", "2"],
    pages: ["0", "2", "2"],
  });
  void next;
});

test("replaces a stream that goes silent for 30 s, even if its reader is slow", async () => {
  const { streams, pages, events } = silentFeed([1, 2, 3], [[1, 2]]);
  const feed = followEvents(events, { after: 0 });
  await feed.next();
  await vi.advanceTimersByTimeAsync(60_000);
  expect((await feed.next()).value).toMatchObject({ position: 2n });
  const third = feed.next();
  await vi.advanceTimersByTimeAsync(29_999);
  expect({ streams, pages }).toEqual({ streams: ["0"], pages: [] });
  await vi.advanceTimersByTimeAsync(1);
  expect((await third).value).toMatchObject({ position: 3n });
  expect(pages).toEqual(["2"]);
});

test("waits for a service that is down for a long time", async () => {
  const { streams, events } = silentFeed([], [[], [7]]);
  const away = ShipmentsError.from(new ConnectError("away", Code.Unavailable));
  events.listEvents = () => Promise.reject(away);
  const feed = followEvents(events, { after: 6 });
  const next = feed.next();
  await vi.advanceTimersByTimeAsync(10_000 + 2_000);
  expect((await next).value).toMatchObject({ position: 7n });
  expect(streams).toEqual(["6", "6"]);
});

/** Creates a feed without events. Its streams send messages at the given seconds and then end. */
function endingFeed(messagesAtS: readonly number[]) {
  const seen = { streams: 0, pages: 0 };
  async function* watchEvents() {
    seen.streams++;
    const openedMs = Date.now();
    for (const atS of messagesAtS) {
      await new Promise((resolve) => setTimeout(resolve, openedMs + atS * 1_000 - Date.now()));
      yield create(WatchEventsResponseSchema, { cursor: "1" });
    }
  }
  const listEvents: any = async () => {
    if (++seen.pages > 99) throw new ConnectError("too often", Code.ResourceExhausted);
    return create(ListEventsResponseSchema, { cursor: "1" });
  };
  return { seen, events: { watchEvents, listEvents } as any };
}

test("reopens streams that end after their first message with growing delays", async () => {
  const { seen, events } = endingFeed([0]);
  void followEvents(events).next();
  await vi.advanceTimersByTimeAsync(61_000);
  // Streams start at 0, 0, 4, 12, 28 and 60 seconds. Pages are read once, then every 2 seconds.
  expect(seen).toEqual({ streams: 6, pages: 1 + 30 });
});

test("reopens a stream immediately if it ended after lasting", async () => {
  const { seen, events } = endingFeed([0, 15]);
  void followEvents(events).next();
  await vi.advanceTimersByTimeAsync(59_000);
  expect(seen).toEqual({ streams: 4, pages: 3 });
});

test("refuses an empty position instead of starting from the beginning", async () => {
  const { streams, pages, events } = silentFeed([1], [[1]]);
  const first = followEvents(events, { after: "" }).next();
  await expect(first).rejects.toThrow(ShipmentsError);
  await expect(first).rejects.toMatchObject({ code: Code.InvalidArgument });
  expect({ streams, pages }).toEqual({ streams: [], pages: [] });
});
