import { CALL_BYTES, type Answer } from "./unread-responses.ts";

/** Bounds on the calls of one connection. */
export interface CallLimits {
  /** How many calls of a connection are served at once; the others wait. */
  readonly maxServed: number;
  /** How much may wait to be sent before further calls wait too, in bytes. */
  readonly pauseBytes: number;
  /** When so much waits to be sent, further answers are dropped, in bytes. */
  readonly maxBytesOfConnection: number;
  /** When so much waits on all connections of a server, `pressedBytes` takes the place of both. */
  readonly maxBytes: number;
  readonly pressedBytes: number;
  /** How many calls may wait on all connections of a server. */
  readonly maxWaiting: number;
}

/** What all connections of a server have together. */
export interface ServerTotals {
  /** Calls that wait to be served. */
  waiting: number;
  /** Bytes that wait to be sent. */
  heldBytes: number;
}

/** The calls of one connection. Each is known by its answer, from when it comes to when it closes. */
export interface ConnectionCalls {
  /** Notes that a call has come. True when it is to be served now; false when it must `wait`. */
  begin(answer: Answer): boolean;
  /** Calls `serve` when others have ended, unless the call has; false when too many wait already. */
  wait(answer: WaitingAnswer, serve: () => void): boolean;
  /** Takes a call out of those that count as served, since it may last as long as it likes. */
  exempt(answer: Answer): void;
  /** Counts what is about to be sent. False when it is too much: drop the answer. */
  send(answer: Answer, bytes: number): boolean;
  /** Notes that so much of an answer has been sent, where more follows. */
  sent(answer: Answer, bytes: number): void;
  /** Notes that a call has closed. */
  end(answer: Answer): void;
  /** Forgets all calls, for when the connection has closed. */
  clear(): void;
  /** Where they come from. */
  readonly peer: { readonly remoteAddress?: string | undefined };
  /** Whether a call ever came. */
  readonly hasCome: () => boolean;
  /** Whether none is open. */
  readonly isIdle: () => boolean;
  /** Whether none is served but those that may last as long as they like. */
  readonly isExempt: () => boolean;
  /** The open calls, with the bytes that they are counted to hold; less than 0 if they are not. */
  readonly open: () => ReadonlyMap<Answer, number>;
}

type WaitingAnswer = Answer & { readonly destroyed: boolean };

interface WaitingCall {
  readonly answer: WaitingAnswer;
  readonly serve: () => void;
}

/** The bounds of the two servers. */
export const CALL_LIMITS: CallLimits = {
  maxServed: 250,
  pauseBytes: 16 * 1024 * 1024,
  maxBytesOfConnection: 64 * 1024 * 1024,
  maxBytes: 128 * 1024 * 1024,
  pressedBytes: 1024 * 1024,
  maxWaiting: 20_000,
};
/** Stands for the bytes of a call that does not count as served. */
const NOT_SERVED = -1;

/** Counts the calls of a connection that has just opened. */
export function createConnectionCalls(
  limits: CallLimits,
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
      const { answer, serve } = waiting.take();
      if (!open.bytes.has(answer) || answer.destroyed) continue;
      open.add(answer, true);
      serve();
    }
  }

  return {
    begin(answer) {
      hasCome = true;
      const isServed = !isFull();
      open.add(answer, isServed);
      return isServed;
    },
    wait: (answer, serve) => waiting.add({ answer, serve }),
    exempt(answer) {
      open.remove(answer);
      open.add(answer, false);
    },
    send(answer, bytes) {
      if (holds(limits.maxBytesOfConnection)) return false;
      open.hold(answer, bytes + CALL_BYTES);
      return true;
    },
    sent: (answer, bytes) => open.hold(answer, -bytes),
    end(answer) {
      open.remove(answer);
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
  const bytesOf = new Map<Answer, number>();
  let served = 0;
  let heldBytes = 0;
  return {
    bytes: bytesOf,
    served: () => served,
    heldBytes: () => heldBytes,
    add(answer: Answer, isServed: boolean): void {
      if (isServed) served++;
      bytesOf.set(answer, isServed ? 0 : NOT_SERVED);
    },
    hold(answer: Answer, bytes: number): void {
      const already = bytesOf.get(answer) ?? NOT_SERVED;
      if (already === NOT_SERVED) return;
      bytesOf.set(answer, already + bytes);
      heldBytes += bytes;
      ofServer.heldBytes += bytes;
    },
    remove(answer: Answer): void {
      const bytes = bytesOf.get(answer) ?? NOT_SERVED;
      bytesOf.delete(answer);
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
