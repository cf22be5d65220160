import { CONNECTIONS, type ConnectionLimits } from "../../pipeline/bounds/limits.ts";
import type { PendingResponse } from "./unread-responses.ts";

/** Totals over all connections of a server. */
export interface ServerTotals {
  waiting: number;
  heldBytes: number;
}

/** Calls of one connection. A call is identified by its response until the response closes. */
export type ConnectionCalls = ReturnType<typeof createConnectionCalls>;

type WaitingResponse = PendingResponse & { readonly destroyed: boolean };

interface WaitingCall {
  readonly response: WaitingResponse;
  readonly serve: () => void;
}

/** Byte count that marks a call as not served. */
const NOT_SERVED = -1;

export function createConnectionCalls(
  limits: ConnectionLimits,
  ofServer: ServerTotals,
  peer: { readonly remoteAddress?: string | undefined },
) {
  const open = createOpenCalls(ofServer);
  const waiting = createWaitingCalls(limits.maxWaiting, ofServer);
  let hasCome = false;

  /** Whether at least this many bytes are waiting on the connection. A lower limit applies under memory pressure. */
  const holds = (bytes: number) =>
    open.heldBytes() >= (ofServer.heldBytes < limits.maxBytes ? bytes : limits.pressedBytes);
  const isFull = () => open.served() >= limits.maxServed || holds(limits.pauseBytes);

  function serveWaiting(): void {
    while (!waiting.isEmpty() && !isFull()) {
      const { response, serve } = waiting.dequeue();
      if (!open.bytes.has(response) || response.destroyed) continue;
      open.add(response, true);
      serve();
    }
  }

  return {
    /** Registers a new call. Returns whether it may be served now. Otherwise it must `wait`. */
    begin(response: PendingResponse): boolean {
      hasCome = true;
      const isServed = !isFull();
      open.add(response, isServed);
      return isServed;
    },
    /**
     * Runs `serve` once enough other calls have ended, unless the waiting call ends first. Returns false if too many
     * calls are waiting.
     */
    wait: (response: WaitingResponse, serve: () => void) => waiting.add({ response, serve }),
    /** Stops counting a call as served, because its duration is unlimited. */
    exempt(response: PendingResponse): void {
      open.remove(response);
      open.add(response, false);
    },
    /** Counts bytes to send. Returns false if they exceed the limit. The caller must then drop the response. */
    send(response: PendingResponse, bytes: number): boolean {
      if (holds(limits.maxBytesOfConnection)) return false;
      open.hold(response, bytes + CONNECTIONS.callBytes);
      return true;
    },
    /** Stops counting `bytes` of a response that have been sent. */
    sent: (response: PendingResponse, bytes: number) => open.hold(response, -bytes),
    end(response: PendingResponse): void {
      open.remove(response);
      serveWaiting();
    },
    clear(): void {
      waiting.clear();
      open.clear();
    },
    peer,
    hasCome: () => hasCome,
    isIdle: () => open.bytes.size === 0,
    /** Whether all served calls are exempt. */
    isExempt: () => open.served() === 0,
    /** Open calls and their counted bytes. Negative for a call that is not served. */
    open: () => open.bytes,
  };
}

function createOpenCalls(ofServer: ServerTotals) {
  /** Bytes held by each call, or NOT_SERVED. */
  const bytesOf = new Map<PendingResponse, number>();
  let served = 0;
  let heldBytes = 0;
  return {
    bytes: bytesOf,
    served: () => served,
    heldBytes: () => heldBytes,
    add(response: PendingResponse, isServed: boolean): void {
      if (isServed) served++;
      bytesOf.set(response, isServed ? 0 : NOT_SERVED);
    },
    hold(response: PendingResponse, bytes: number): void {
      const already = bytesOf.get(response) ?? NOT_SERVED;
      if (already === NOT_SERVED) return;
      bytesOf.set(response, already + bytes);
      heldBytes += bytes;
      ofServer.heldBytes += bytes;
    },
    remove(response: PendingResponse): void {
      const bytes = bytesOf.get(response) ?? NOT_SERVED;
      bytesOf.delete(response);
      if (bytes === NOT_SERVED) return;
      served--;
      heldBytes -= bytes;
      ofServer.heldBytes -= bytes;
    },
    clear(): void {
      ofServer.heldBytes -= heldBytes;
      heldBytes = 0;
      bytesOf.clear();
    },
  };
}

function createWaitingCalls(maxWaiting: number, ofServer: ServerTotals) {
  let calls: WaitingCall[] = [];
  /** Index of the next call in `calls`. */
  let next = 0;
  return {
    isEmpty: () => next === calls.length,
    add(call: WaitingCall): boolean {
      if (ofServer.waiting >= maxWaiting) return false;
      ofServer.waiting++;
      calls.push(call);
      return true;
    },
    dequeue(): WaitingCall {
      ofServer.waiting--;
      const call = calls[next++] as WaitingCall;
      if (next === calls.length) {
        calls = [];
        next = 0;
      }
      return call;
    },
    clear(): void {
      ofServer.waiting -= calls.length - next;
      calls = [];
      next = 0;
    },
  };
}
