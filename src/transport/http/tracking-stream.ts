import type { ServerResponse } from "node:http";
import { refuse, unavailable } from "../../domain/refusal.ts";
import { LINK_STREAMS } from "../../pipeline/bounds/limits.ts";
import { addressBlock } from "../../pipeline/client-address.ts";

/** Interval between heartbeats, in milliseconds. Without them, proxies would close silent connections. */
const HEARTBEAT_MS = 20_000;
/** Maximum duration of a stream in milliseconds. When the browser reconnects, its link is checked again. */
const MAX_MS = 10 * 60_000;
const CHANGED = "data: changed\n\n";

/**
 * Creates the limits of open streams.
 *
 * @returns a function that acquires a slot and returns the slot's release function. Throws Refusal
 *   RATE_LIMITED, or UNAVAILABLE if the process has too many streams
 */
export function createStreamSlots(): (link: string, address: string) => () => void {
  const open = new Map<string, number>();
  let all = 0;
  return (link, address) => {
    const bounds = [
      [`link ${link}`, LINK_STREAMS.ofLink],
      [`address ${addressBlock(address)}`, LINK_STREAMS.ofAddress],
    ] as const;
    for (const [holder, limit] of bounds) {
      if ((open.get(holder) ?? 0) < limit) continue;
      const text = `The page already has ${limit} open connections.`;
      throw refuse("RATE_LIMITED", text, { retryAfterSeconds: 1 });
    }
    if (all >= LINK_STREAMS.ofProcess) throw unavailable("Too many tracking pages are open on this server.");
    const count = (more: 1 | -1) => {
      all += more;
      for (const [holder] of bounds) {
        const left = (open.get(holder) ?? 0) + more;
        if (left === 0) open.delete(holder);
        else open.set(holder, left);
      }
    };
    count(1);
    return () => count(-1);
  };
}

/**
 * Starts a stream of server-sent events. The first event is sent immediately, because the page may be stale. The stream
 * ends after `MAX_MS` and when the signal aborts. The server cuts connections of stalled readers.
 *
 * @param stop called when the stream has ended
 * @returns a function that sends a change and, if its argument is true, ends the stream
 */
export function beginStream(
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  { signal, stop }: { readonly signal: AbortSignal; readonly stop: () => void },
): (isOver: boolean) => void {
  const end = () => void response.end();
  const heartbeat = setInterval(() => response.write(":\n\n"), HEARTBEAT_MS);
  const life = setTimeout(end, MAX_MS);
  response.once("close", () => {
    clearInterval(heartbeat);
    clearTimeout(life);
    signal.removeEventListener("abort", end);
    stop();
  });
  response.writeHead(200, {
    ...headers,
    "content-type": "text/event-stream",
    // Disables buffering in nginx.
    "x-accel-buffering": "no",
  });
  response.write(CHANGED);
  if (signal.aborted || response.req.method === "HEAD") end();
  else signal.addEventListener("abort", end);
  return (isOver) => {
    if (response.writableEnded) return;
    response.write(CHANGED);
    if (isOver) end();
  };
}
