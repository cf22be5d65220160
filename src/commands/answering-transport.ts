import { once } from "node:events";
import { PassThrough, type Readable, type Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** Maximum time to wait for calls in flight after the end of the input, in milliseconds. */
const MAX_DRAIN_MS = 60_000;

/**
 * Creates a transport on standard streams. When the input ends, it still responds to requests in flight, which the
 * SDK's transport would drop.
 *
 * @returns `closed` resolves when the input has ended and all its requests have responses
 */
export function createAnsweringTransport(
  stdin: Readable,
  stdout: Writable,
): { readonly transport: Transport; readonly closed: Promise<unknown> } {
  const unanswered = new Set<string | number>();
  let onAnswered: (() => void) | undefined;
  const settle = (id: string | number) => {
    unanswered.delete(id);
    if (unanswered.size === 0) onAnswered?.();
  };

  const input = new PassThrough({
    // Delays the end of the input, because the SDK's transport closes at that point.
    flush(end) {
      // Runs after the last input has been forwarded.
      setImmediate(() => {
        const endOnce = () => {
          clearTimeout(timer);
          onAnswered = undefined;
          end();
        };
        const timer = setTimeout(endOnce, MAX_DRAIN_MS);
        onAnswered = endOnce;
        if (unanswered.size === 0) endOnce();
      });
    },
  });
  const stdio = new StdioServerTransport(input, stdout);
  const transport: Transport = {
    async start() {
      Object.assign(stdio, {
        onmessage(message: JSONRPCMessage) {
          const id = requestIdOf(message);
          if (id !== undefined) unanswered.add(id);
          const cancelled = cancelledIdOf(message);
          if (cancelled !== undefined) settle(cancelled);
          transport.onmessage?.(message);
        },
        onerror: (error: Error) => transport.onerror?.(error),
        onclose: () => transport.onclose?.(),
      });
      await stdio.start();
      stdin.pipe(input);
    },
    async send(message) {
      await stdio.send(message);
      if ("id" in message && !("method" in message) && message.id !== undefined) settle(message.id);
    },
    close: () => stdio.close(),
  };
  return { transport, closed: once(input, "end") };
}

/** Returns the id of a request that gets a response. Subscriptions get none while they are open. */
function requestIdOf(message: JSONRPCMessage): string | number | undefined {
  if (!("method" in message && "id" in message)) return undefined;
  return message.method === "subscriptions/listen" ? undefined : message.id;
}

function cancelledIdOf(message: JSONRPCMessage): string | number | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  return message.params?.["requestId"] as string | number | undefined;
}
