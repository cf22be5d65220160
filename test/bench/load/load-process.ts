/**
 * The load generator, a separate process that returns the outcome of each load. It runs as long as
 * the bench, so that its code is warm.
 */
import { quantile } from "../figures.ts";
import { CUSTOMER, customerDigits, SHIPMENT, shipmentDigits } from "../numbering.ts";
import { watchFeed, type FeedLag } from "./feed-lag.ts";
import { openHttp1 } from "./http1.ts";
import { openHttp2 } from "./http2.ts";
import type { Connection, Load, Outcome, Send } from "./load.ts";

/** Maximum number of HTTP/2 connections. Clients share them. */
const MAX_HTTP2_CONNECTIONS = 8;
/** Maximum wait for responses after the end of a load, in milliseconds. */
const LATE_MS = 10_000;
/** Interval at which due requests are sent, in milliseconds. */
const TICK_MS = 1;
/** Interval at which a load without a rate checks whether it has ended, in milliseconds. */
const END_TICK_MS = 50;

process.on("message", async (load: Load) => {
  const connections = await Promise.all(open(load));
  const feed = load.feed === undefined ? undefined : await watchFeed(load.feed);
  const outcome = await run(
    load,
    connections.flatMap(({ sends }) => sends),
    feed,
  );
  const feedLagsMs = Float64Array.from((await feed?.end()) ?? []).sort();
  process.send!({ ...outcome, feedLagsMs });
  for (const connection of connections) connection.close();
});
process.send!("ready");

function open({ request, ports, clients }: Load): Promise<Connection>[] {
  const isHttp1 = request.protocol === "HTTP/1.1";
  const count = isHttp1 ? clients : Math.min(clients, MAX_HTTP2_CONNECTIONS);
  return Array.from({ length: count }, (_, i) => {
    const port = ports[i % ports.length]!;
    return isHttp1 ? openHttp1(port) : openHttp2(port, request, clients / count);
  });
}

function run(load: Load, idle: Send[], feed?: FeedLag): Promise<Omit<Outcome, "feedLagsMs">> {
  const { seconds, requestsPerSecond = Infinity, first, clients } = load;
  const fill = filler(load);
  const latencies: number[] = [];
  const beganMs = performance.now();
  const endMs = beganMs + seconds * 1_000;
  let issued = 0;
  let answeredInTime = 0;
  let fault: string | undefined;
  return new Promise((resolve) => {
    const ticker = setInterval(pump, requestsPerSecond === Infinity ? END_TICK_MS : TICK_MS);
    setImmediate(pump);

    function pump(): void {
      const nowMs = performance.now();
      // The first request is due immediately.
      const due = ((nowMs - beganMs) / 1_000) * requestsPerSecond + 1;
      while (idle.length > 0 && issued < due && nowMs < endMs && fault === undefined) {
        issue(idle.shift()!);
      }
      if (nowMs > endMs + LATE_MS) fault ??= `no response within ${LATE_MS} ms`;
      if (fault !== undefined || (nowMs >= endMs && idle.length === clients)) {
        clearInterval(ticker);
        const sorted = Float64Array.from(latencies).sort();
        resolve({
          issued,
          requestsPerSecond: answeredInTime / seconds,
          medianMs: quantile(sorted, 0.5),
          p99Ms: quantile(sorted, 0.99),
          p999Ms: quantile(sorted, 0.999),
          fault,
        });
      }
    }

    function issue(send: Send): void {
      const request = fill(first + issued++);
      const sentMs = performance.now();
      send(request, (failure, answer) => {
        const answeredMs = performance.now();
        fault ??= failure;
        if (failure === undefined) feed?.note(answer!);
        latencies.push(answeredMs - sentMs);
        if (answeredMs <= endMs) answeredInTime++;
        idle.push(send);
        pump();
      });
    }
  });
}

/** Returns a function that fills a request's tokens and key by request number, each time in a copy. */
function filler({ request, shipments, apiKeys }: Load): (number: number) => Buffer {
  const text = Buffer.from(request.body);
  const [shipmentOffsets, customerOffsets] = [SHIPMENT, CUSTOMER].map((it) => offsetsOf(it, text));
  const keyOffsets = apiKeys.length === 1 ? [] : offsetsOf(apiKeys[0]!, text);
  return (number) => {
    if (shipmentOffsets!.length + customerOffsets!.length + keyOffsets.length === 0) return text;
    const filled = Buffer.from(text);
    for (const offset of keyOffsets) filled.write(turnOf(apiKeys, number), offset, "latin1");
    for (const offset of shipmentOffsets!) {
      filled.write(shipmentDigits((number % shipments) + 1), offset, "latin1");
    }
    for (const offset of customerOffsets!) filled.write(customerDigits(number), offset, "latin1");
    return filled;
  };
}

/**
 * Returns a request's key. Each turn shifts the keys by one, so that each workspace books for both
 * known and new customers.
 */
function turnOf(apiKeys: readonly string[], number: number): string {
  return apiKeys[(number + Math.floor(number / apiKeys.length)) % apiKeys.length]!;
}

function offsetsOf(token: string, bytes: Buffer): number[] {
  const offsets: number[] = [];
  for (let at = bytes.indexOf(token); at >= 0; at = bytes.indexOf(token, at + 1)) offsets.push(at);
  return offsets;
}
