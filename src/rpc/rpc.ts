import {
  getOption,
  hasOption,
  type DescMethod,
  type DescMethodUnary,
  type DescService,
  type Message,
  type MessageShape,
  type MessageValidType,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { limit_class, LimitClass as LimitClassOption } from "../../gen/shipments/v1/options_pb.js";
import type { LimitClass } from "../domain/rate-limit.ts";
import type { Call } from "./caller.ts";

/**
 * What an RPC does: takes a request that passed every rule of its descriptor, gives the response,
 * and throws a `Refusal` when it says no.
 */
export type RpcFunction<M extends DescMethod> = (
  request: MessageValidType<M["input"]>,
  call: Call,
) => Promise<MessageShape<M["output"]>> | MessageShape<M["output"]>;

/** A function for every unary RPC of a service, by its name. */
export type ServiceFunctions<S extends DescService> = {
  readonly [
    K in keyof S["method"] as S["method"][K] extends DescMethodUnary ? K : never
  ]: RpcFunction<S["method"][K]>;
};

/**
 * An RPC and its function, with the types of its messages put aside so that different RPCs fit one
 * list.
 */
export interface Rpc {
  readonly method: DescMethodUnary;
  /** `shipments.v1.ShipmentService/QuoteShipment` */
  readonly name: string;
  /** Whether it changes nothing, as its descriptor declares (`NO_SIDE_EFFECTS`). */
  readonly readOnly: boolean;
  readonly limitClass: LimitClass;
  run(request: Message, call: Call): Promise<Message> | Message;
}

/** Pairs a service's unary RPCs with their functions. */
export function listRpcs<S extends DescService>(
  service: S,
  functions: ServiceFunctions<S>,
): readonly Rpc[] {
  const byName = functions as Readonly<Record<string, Rpc["run"]>>;
  return service.methods.map((method) => {
    const run = byName[method.localName];
    const name = `${service.typeName}/${method.name}`;
    if (!isUnary(method) || run === undefined) throw new Error(`${name} has no function`);
    return { method, name, readOnly: isReadOnly(method), limitClass: limitClassOf(method), run };
  });
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
