import {
  getOption,
  hasOption,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  type Message,
  type MessageShape,
  type MessageValidType,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { limit_class, LimitClass as LimitClassOption } from "../../gen/shipments/v1/options_pb.js";
import type { LimitClass } from "../domain/rate-limit.ts";
import type { Answer } from "./answer.ts";
import type { Call } from "./call.ts";

/**
 * The function behind an RPC: takes a request that follows every rule of its descriptor and gives
 * the answer, or throws a `Refusal`.
 */
export type RpcFunction<M extends DescMethod> = (
  request: MessageValidType<M["input"]>,
  call: Call,
) => Promise<Answer<MessageShape<M["output"]>>> | Answer<MessageShape<M["output"]>>;

/**
 * The function behind an RPC that answers with a stream: gives responses until `signal` aborts or
 * there are no more. The next one is asked for only when the caller has taken the one before.
 */
export type StreamFunction<M extends DescMethod> = (
  request: MessageValidType<M["input"]>,
  call: Call,
  signal: AbortSignal,
) => AsyncIterable<MessageShape<M["output"]>>;

/** A function for every unary and every server streaming RPC of a service, by its name. */
export type ServiceFunctions<S extends DescService> = {
  readonly [
    K in keyof S["method"] as S["method"][K] extends DescMethodUnary | DescMethodServerStreaming
      ? K
      : never
  ]: S["method"][K] extends DescMethodUnary
    ? RpcFunction<S["method"][K]>
    : StreamFunction<S["method"][K]>;
};

/** An RPC and its function, without the types of its messages, so that all RPCs fit one list. */
export interface Rpc {
  readonly method: DescMethodUnary;
  /** `shipments.v1.ShipmentService/QuoteShipment` */
  readonly name: string;
  /** Whether it changes nothing, as its descriptor declares (`NO_SIDE_EFFECTS`). */
  readonly readOnly: boolean;
  readonly limitClass: LimitClass;
  run(request: Message, call: Call): Promise<Answer> | Answer;
}

/** As `Rpc`, for one that answers with a stream. */
export interface StreamRpc {
  readonly method: DescMethodServerStreaming;
  readonly name: string;
  readonly limitClass: LimitClass;
  run(request: Message, call: Call, signal: AbortSignal): AsyncIterable<Message>;
}

/** Pairs a service's unary RPCs with their functions. */
export function listRpcs<S extends DescService>(
  service: S,
  functions: ServiceFunctions<S>,
): readonly Rpc[] {
  return service.methods.filter(isUnary).map((method) => ({
    method,
    readOnly: isReadOnly(method),
    ...named<Rpc["run"]>(method, functions),
  }));
}

/** Pairs a service's server streaming RPCs with their functions. */
export function listStreams<S extends DescService>(
  service: S,
  functions: ServiceFunctions<S>,
): readonly StreamRpc[] {
  return service.methods
    .filter(isStreaming)
    .map((method) => ({ method, ...named<StreamRpc["run"]>(method, functions) }));
}

function named<Run>(
  method: DescMethod,
  functions: object,
): { name: string; limitClass: LimitClass; run: Run } {
  const run = (functions as Readonly<Record<string, Run>>)[method.localName];
  const name = `${method.parent.typeName}/${method.name}`;
  if (run === undefined) throw new Error(`${name} has no function`);
  return { name, limitClass: limitClassOf(method), run };
}

function isReadOnly({ idempotency }: DescMethod): boolean {
  return idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

const LIMIT_CLASS: Partial<Record<LimitClassOption, LimitClass>> = {
  [LimitClassOption.QUOTE]: "quote",
  [LimitClassOption.READ]: "read",
  [LimitClassOption.WRITE]: "write",
};

function limitClassOf(method: DescMethod): LimitClass {
  const declared = hasOption(method, limit_class) ? getOption(method, limit_class) : undefined;
  return LIMIT_CLASS[declared ?? 0] ?? (isReadOnly(method) ? "read" : "write");
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

function isStreaming(method: DescMethod): method is DescMethodServerStreaming {
  return method.methodKind === "server_streaming";
}
