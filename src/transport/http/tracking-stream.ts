import type { ServerResponse } from "node:http";
import { refuse, unavailable } from "../../domain/refusal.ts";
import { LINK_STREAMS } from "../../pipeline/bounds/limits.ts";
import { addressBlock } from "../../pipeline/client-address.ts";

/** How long a stream is silent at most, for proxies that close what is. */
const HEARTBEAT_MS = 20_000;
/** After so long a browser asks again, and learns whether its link still works. */
const MAX_MS = 10 * 60_000;
const CHANGED = "data: changed\n\n";

/**
 * Builds the count of open streams.
 *
 * @returns counts one more, and gives what counts it less; throws Refusal RATE_LIMITED, or UNAVAILABLE when there are
 * too many of all
 */
export function createStreamSlots(): (link: string, address: string) => () => void {
  const open = new Map<string, number>();
  let all = 0;
  return (link, address) => {
    const bounds = [
      [`link ${link}`, LINK_STREAMS.ofLink],
      [`address ${addressBlock(address)}`, LINK_STREAMS.ofAddress],
    ] as const;
    for (const [holder, most] of bounds) {
      if ((open.get(holder) ?? 0) < most) continue;
      const text = `The page is followed ${most} times already.`;
      throw refuse("RATE_LIMITED", text, { retryAfterSeconds: 1 });
    }
    if (all >= LINK_STREAMS.ofProcess) throw unavailable("Too many pages are followed here.");
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
 * Begins a stream of server-sent events, the first of which comes at once: what is shown may be from before. It ends by
 * itself after a while, and when the signal aborts; of readers that take nothing the server cuts the connection.
 *
 * @param stop is called when it has ended
 * @returns says that something has changed, and whether nothing more will
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
    // nginx would collect it else.
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
