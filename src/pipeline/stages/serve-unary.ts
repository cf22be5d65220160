import type { Refusal } from "../../domain/refusal.ts";
import type { AnyCall, ReceivedCall } from "../call.ts";
import type { RpcResponse } from "../rpc-response.ts";
import type { Rpc } from "../rpc.ts";
import type { Admit } from "./admit.ts";
import type { DecodedRequest, Execute } from "./execute.ts";
import type { TickBatcher } from "./tick-batcher.ts";

/** How a server reads the request of one unary call and writes its response. */
export interface UnaryExchange {
  /**
   * Reads the body. Then calls `received` with how to decode it, or `failed` with why it cannot be
   * read: one of them, once, or none when the caller goes away. What it throws is as `failed`.
   */
  read(received: (decode: () => DecodedRequest) => void, failed: (error: unknown) => void): void;
  /** Whether the caller has gone, so that nobody would learn the response. */
  isGone(): boolean;
  respond(response: RpcResponse, call: AnyCall): void | Promise<void>;
  /** Never throws. */
  refuse(refusal: Refusal): void;
}

export type ServeUnary = (rpc: Rpc, call: ReceivedCall, exchange: UnaryExchange) => void;

/**
 * Builds the way of a unary call: admit, read, execute, respond; an error anywhere is a refusal. Not an
 * async function: a step whose result is there goes on at once, since a promise costs more than most
 * steps do.
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

/** Takes a step, whose error may be thrown or the reason of a promise. */
function attempt(step: () => void | Promise<void>, fail: (error: unknown) => void): void {
  try {
    step()?.catch(fail);
  } catch (error) {
    fail(error);
  }
}

/** Goes on with a value as soon as it is there: at once where it is no promise. */
function mapMaybePromise<T, U>(
  value: T | Promise<T>,
  next: (value: T) => U | Promise<U>,
): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
