import { CONNECTIONS, type ConnectionLimits } from "../../pipeline/bounds/limits.ts";
import type { PendingResponse } from "./unread-responses.ts";

/** What all connections of a server have together. */
export interface ServerTotals {
  waiting: number;
  heldBytes: number;
}

/** The calls of one connection. Each is known by its response, from when it comes to when it closes. */
export interface ConnectionCalls {
  /** Notes that a call has come. True when it is to be served now; false when it must `wait`. */
  begin(response: PendingResponse): boolean;
  /** Calls `serve` when others have ended, unless the call has; false when too many wait already. */
  wait(response: WaitingResponse, serve: () => void): boolean;
  /** Takes a call out of those that count as served, since it may last as long as it likes. */
  exempt(response: PendingResponse): void;
  /** Counts what is about to be sent. False when it is too much: drop the response. */
  send(response: PendingResponse, bytes: number): boolean;
  /** Releases `bytes` of a partly sent response. */
  sent(response: PendingResponse, bytes: number): void;
  end(response: PendingResponse): void;
  /** Forgets all calls, for when the connection has closed. */
  clear(): void;
  readonly peer: { readonly remoteAddress?: string | undefined };
  readonly hasCome: () => boolean;
  readonly isIdle: () => boolean;
  /** Whether none is served but those that may last as long as they like. */
  readonly isExempt: () => boolean;
  /** The open calls, with the bytes that they are counted to hold; less than 0 if they are not. */
  readonly open: () => ReadonlyMap<PendingResponse, number>;
}

type WaitingResponse = PendingResponse & { readonly destroyed: boolean };

interface WaitingCall {
  readonly response: WaitingResponse;
  readonly serve: () => void;
}

/** Stands for the bytes of a call that does not count as served. */
const NOT_SERVED = -1;

export function createConnectionCalls(
  limits: ConnectionLimits,
  ofServer: ServerTotals,
  peer: ConnectionCalls["peer"],
): ConnectionCalls {
  const open = createOpenCalls(ofServer);
  const waiting = createWaitingCalls(limits.maxWaiting, ofServer);
  let hasCome = false;

  /** Whether so much waits to be sent, or less when the server is pressed. */
  const holds = (bytes: number) =>
    open.heldBytes() >= (ofServer.heldBytes < limits.maxBytes ? bytes : limits.pressedBytes);
  const isFull = () => open.served() >= limits.maxServed || holds(limits.pauseBytes);

  function serveWaiting(): void {
    while (!waiting.isEmpty() && !isFull()) {
      const { response, serve } = waiting.take();
      if (!open.bytes.has(response) || response.destroyed) continue;
      open.add(response, true);
      serve();
    }
  }

  return {
    begin(response) {
      hasCome = true;
      const isServed = !isFull();
      open.add(response, isServed);
      return isServed;
    },
    wait: (response, serve) => waiting.add({ response, serve }),
    exempt(response) {
      open.remove(response);
      open.add(response, false);
    },
    send(response, bytes) {
      if (holds(limits.maxBytesOfConnection)) return false;
      open.hold(response, bytes + CONNECTIONS.callBytes);
      return true;
    },
    sent: (response, bytes) => open.hold(response, -bytes),
    end(response) {
      open.remove(response);
      serveWaiting();
    },
    clear() {
      waiting.clear();
      open.clear();
    },
    peer,
    hasCome: () => hasCome,
    isIdle: () => open.bytes.size === 0,
    isExempt: () => open.served() === 0,
    open: () => open.bytes,
  };
}

/** The open calls of a connection, those that are served, and what they hold. */
function createOpenCalls(ofServer: ServerTotals) {
  /** By call, how many bytes it holds, or NOT_SERVED. */
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

/** The calls of a connection that wait, in the order they came. */
function createWaitingCalls(maxWaiting: number, ofServer: ServerTotals) {
  let calls: WaitingCall[] = [];
  /** Where in `calls` the next one is. */
  let next = 0;
  return {
    isEmpty: () => next === calls.length,
    add(call: WaitingCall): boolean {
      if (ofServer.waiting >= maxWaiting) return false;
      ofServer.waiting++;
      calls.push(call);
      return true;
    },
    take(): WaitingCall {
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
