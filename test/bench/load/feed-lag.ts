import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import type { Load } from "./load.ts";

/** Maximum time to wait for the last bookings' events, in milliseconds. */
const LATE_MS = 10_000;

/** Measures the delay of a workspace's events on a stream. */
export interface FeedLag {
  /** Records the time of a booking's response. */
  note(answer: Buffer): void;
  /** Waits for every booking's event and returns the delays in milliseconds. */
  end(): Promise<number[]>;
}

/** Starts to follow a workspace's feed from its end. Resolves when the stream has started. */
export async function watchFeed({ port, apiKey }: NonNullable<Load["feed"]>): Promise<FeedLag> {
  const answeredMs = new Map<string, number>();
  const arrivedMs = new Map<string, number>();
  const begun = Promise.withResolvers<void>();
  const ended = new AbortController();
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` });
  const stream = createClient(EventService, transport).watchEvents(
    { fromNow: true },
    { headers: { authorization: `Bearer ${apiKey}` }, signal: ended.signal },
  );
  const watch = async () => {
    for await (const { data } of stream) {
      begun.resolve();
      if (data !== undefined) arrivedMs.set(data.shipment!, performance.now());
    }
  };
  const watching = watch().catch(begun.reject);
  await begun.promise;
  return {
    note(answer) {
      const [reference] = /SHP-\w+/.exec(answer.toString("latin1"))!;
      answeredMs.set(reference, performance.now());
    },
    async end() {
      const deadlineMs = performance.now() + LATE_MS;
      const missing = () => answeredMs.keys().some((reference) => !arrivedMs.has(reference));
      while (missing() && performance.now() < deadlineMs) await sleep(5);
      if (missing()) throw new Error("the feed lacks events");
      ended.abort();
      await watching;
      return [...answeredMs].map(([reference, ms]) => Math.max(0, arrivedMs.get(reference)! - ms));
    },
  };
}
