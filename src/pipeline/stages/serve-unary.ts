import type { Refusal } from "../../domain/refusal.ts";
import type { AnyCall, ReceivedCall } from "../call.ts";
import type { RpcResponse } from "../rpc-response.ts";
import type { Rpc } from "../rpc.ts";
import type { Admit } from "./admit.ts";
import type { DecodedRequest, Execute } from "./execute.ts";
import type { TickBatcher } from "./tick-batcher.ts";

/** Reads and writes one unary call for a server. */
export interface UnaryExchange {
  /**
   * Reads the body. Then calls either `received` with a decoder or `failed` with an error, once. Calls
   * neither if the caller disconnects. Thrown errors count as `failed`.
   */
  read(received: (decode: () => DecodedRequest) => void, failed: (error: unknown) => void): void;
  isGone(): boolean;
  respond(response: RpcResponse, call: AnyCall): void | Promise<void>;
  /** Sends a refusal. Never throws. */
  refuse(refusal: Refusal): void;
}

export type ServeUnary = (rpc: Rpc, call: ReceivedCall, exchange: UnaryExchange) => void;

/**
 * Creates the handling of a unary call: admit, read, execute, respond. Any error becomes a refusal. Not
 * an async function, because a promise costs more than most steps. If a result is already available,
 * the next step runs synchronously.
 */
export function createServeUnary(options: {
  readonly admit: Admit;
  readonly execute: Execute;
  readonly refuseCall: (error: unknown, call: ReceivedCall) => Refusal;
  readonly tickBatcher: TickBatcher;
}): ServeUnary {
  const { admit, execute, refuseCall, tickBatcher } = options;
  return (rpc, received, exchange) => {
    const fail = (error: unknown) => exchange.refuse(refuseCall(error, received));

    attempt(() => mapMaybePromise(admit(rpc, received), read), fail);

    function read(call: AnyCall): void {
      exchange.read((decode) => tickBatcher.execute(() => run(call, decode)), fail);
    }

    function run(call: AnyCall, decode: () => DecodedRequest): void {
      if (exchange.isGone()) return;
      const respond = (response: RpcResponse) => {
        received.code = 0;
        return exchange.respond(response, call);
      };
      attempt(() => mapMaybePromise(execute(rpc, decode(), call), respond), fail);
    }
  };
}

/** Runs a step and passes its error to `fail`, whether thrown or rejected. */
function attempt(step: () => void | Promise<void>, fail: (error: unknown) => void): void {
  try {
    step()?.catch(fail);
  } catch (error) {
    fail(error);
  }
}

/** Applies a function to a value, synchronously if the value is not a promise. */
function mapMaybePromise<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
