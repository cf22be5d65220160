import type { Message } from "@bufbuild/protobuf";
import type { Violation, Refusal } from "../../domain/refusal.ts";
import type { Admit } from "./admit.ts";
import type { RpcResponse } from "../rpc-response.ts";
import type { ReceivedCall } from "../call.ts";
import type { Execute } from "./execute.ts";
import type { Rpc } from "../rpc.ts";
import type { TickBatcher } from "./tick-batcher.ts";
import { whenResolved } from "./map-maybe-promise.ts";

/** A request, and which of its fields could not be read. */
export interface DecodedRequest {
  readonly request: Message;
  readonly violations: readonly Violation[];
  /** What it has that there is not, and is refused for. */
  readonly unknown: readonly Violation[];
}

/** How a server reads the request of one unary call and writes its answer. */
export interface UnaryExchange {
  /**
   * Reads the body. Then calls `received` with how to decode it, or `failed` with why it cannot be
   * read: one of them, once, or none when the caller goes away. What it throws is as `failed`.
   */
  read(received: (decode: () => DecodedRequest) => void, failed: (error: unknown) => void): void;
  /** Whether the caller has gone, so that nobody would learn the answer. */
  isGone(): boolean;
  respond(answer: RpcResponse): void | Promise<void>;
  /** Never throws. */
  refuse(refusal: Refusal): void;
}

/** Serves one unary call from its headers to its answer. */
export type ServeUnary = (rpc: Rpc, call: ReceivedCall, exchange: UnaryExchange) => void;

/** Builds the way of a unary call: admit, read, execute, answer; an error anywhere is a refusal. */
export function createServeUnary(options: {
  readonly admit: Admit;
  readonly execute: Execute;
  /** The refusal that an error stands for. */
  readonly refusalFor: (error: unknown, call: ReceivedCall) => Refusal;
  readonly tickBatcher: TickBatcher;
}): ServeUnary {
  const { admit, execute, refusalFor, tickBatcher } = options;
  return (rpc, call, exchange) => {
    const failed = (error: unknown) => exchange.refuse(refusalFor(error, call));
    const attempt = (step: () => void | Promise<void>) => {
      try {
        step()?.catch(failed);
      } catch (error) {
        failed(error);
      }
    };
    const respond = (answer: RpcResponse) => {
      call.code = 0;
      return exchange.respond(answer);
    };
    attempt(() =>
      whenResolved(admit(rpc, call), (admitted) =>
        exchange.read((decode) => {
          tickBatcher.perform(() => {
            if (exchange.isGone()) return;
            attempt(() => {
              const { request, violations, unknown } = decode();
              return whenResolved(execute(rpc, request, admitted, violations, unknown), respond);
            });
          });
        }, failed),
      ),
    );
  };
}
