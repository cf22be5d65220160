import {
  create,
  getOption,
  type DescMessage,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  type Message,
  type MessageInitShape,
  type MessageShape,
  type MessageValidType,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { minimum_role } from "../../gen/shipments/admin/v1/options_pb.js";
import { OperatorRoleSchema } from "../../gen/shipments/admin/v1/operator_pb.js";
import { MemberRoleSchema } from "../../gen/shipments/v1/member_pb.js";
import {
  for_courier_links,
  for_couriers,
  limit_class,
  LimitClassSchema,
  max_request_bytes,
  minimum_member_role,
  mode,
  ModeSchema,
  refusal_reasons,
} from "../../gen/shipments/v1/options_pb.js";
import { MAX_REQUEST_BYTES } from "../domain/limits.ts";
import type { Mode } from "../domain/mode.ts";
import type { MemberRole, OperatorRole } from "../domain/roles.ts";
import type { LimitClass } from "../domain/rate-limit.ts";
import { compileEnumName } from "../json/records.ts";
import { hasForms, type RpcResponse } from "./rpc-response.ts";
import type { AnyCall, Audience } from "./call.ts";
import { audienceOf, commonReasons } from "./common-reasons.ts";

type ReturnOf<M extends DescMethod> = RpcResponse<MessageShape<M["output"]>> | MessageInitShape<M["output"]>;

/**
 * Implementation of an RPC. Takes a valid request, the call and its dependencies. Returns the response
 * or its fields, or throws a `Refusal`. For writing methods `em` is the call's transaction, unless the
 * function is marked with `aroundTransaction`.
 */
type RpcFunction<M extends DescMethod, C extends AnyCall, Deps> = (
  request: MessageValidType<M["input"]>,
  call: C,
  deps: Deps,
) => Promise<ReturnOf<M>> | ReturnOf<M>;

/**
 * Implementation of a streaming RPC. Yields responses until `signal` aborts or there are no more. The
 * next response is requested only after the caller has received the previous one.
 */
type StreamFunction<M extends DescMethod, C extends AnyCall, Deps> = (
  request: MessageValidType<M["input"]>,
  call: C,
  deps: Deps,
  signal: AbortSignal,
) => AsyncIterable<MessageShape<M["output"]>>;

export type ServiceFunctions<S extends DescService, C extends AnyCall, Deps> = {
  readonly [
    K in keyof S["method"] as S["method"][K] extends DescMethodUnary | DescMethodServerStreaming ? K : never
  ]: S["method"][K] extends DescMethodUnary
    ? RpcFunction<S["method"][K], C, Deps>
    : StreamFunction<S["method"][K], C, Deps>;
};

interface RpcRules {
  /** For example `shipments.v1.ShipmentService/QuoteShipment`. */
  readonly name: string;
  readonly audience: Audience;
  /** Minimum operator role. Ignored for other audiences. */
  readonly minimumRole: OperatorRole;
  /** Minimum member role. Ignored for other audiences. */
  readonly minimumMemberRole: MemberRole;
  /** The only mode in which workspaces can call the RPC. `undefined` if both modes are allowed. */
  readonly mode: Mode | undefined;
  readonly limitClass: LimitClass;
  /** Whether keys with the courier scope can call the RPC. */
  readonly forCouriers: boolean;
  /** Whether couriers who opened a link can call the RPC. */
  readonly forCourierLinks: boolean;
  readonly maxRequestBytes: number;
  readonly refusalReasons: ReadonlySet<string>;
}

/** An RPC with its function. It has no message types, so that one list can contain all RPCs. */
export interface Rpc extends RpcRules {
  readonly method: DescMethodUnary;
  /** Whether the method is declared free of side effects in its descriptor (`NO_SIDE_EFFECTS`). */
  readonly readOnly: boolean;
  run(request: Message, call: AnyCall): Promise<RpcResponse> | RpcResponse;
}

export interface StreamRpc extends RpcRules {
  readonly method: DescMethodServerStreaming;
  run(request: Message, call: AnyCall, signal: AbortSignal): AsyncIterable<Message>;
}

export interface MethodCall<M extends DescMethodUnary = DescMethodUnary> {
  readonly method: M;
  readonly request: MessageShape<M["input"]>;
  readonly call: AnyCall;
}

/** Runs the work of a writing call in one transaction, with its idempotency key and audit entries. */
export type Transact<Deps> = <M extends DescMethodUnary>(
  methodCall: MethodCall<M>,
  work: (deps: Deps) => Promise<MessageInitShape<M["output"]>>,
) => Promise<MessageShape<M["output"]>>;

/** Like `RpcFunction`, but the function opens the call's transaction with `transact`. */
type AroundFunction<Request, C, Deps, Response> = (
  request: Request,
  call: C,
  deps: Deps,
  transact: (work: (inTransaction: Deps) => Promise<Response>) => Promise<Response>,
) => Promise<Response>;

const AROUND_TRANSACTION = new WeakSet<object>();

/**
 * Marks the function of a writing method that also works outside its transaction, for example because it
 * calls a payment provider. The function receives `transact` and dependencies outside the transaction.
 */
export function aroundTransaction<Request, C, Deps, Response>(perform: AroundFunction<Request, C, Deps, Response>) {
  AROUND_TRANSACTION.add(perform);
  return perform as (request: Request, call: C, deps: Deps) => Promise<Response>;
}

/**
 * Pairs a service's unary RPCs with their functions. The service's package determines the audience of the calls.
 *
 * @param own functions that manage their transactions, idempotency keys and audit entries themselves
 */
export function listRpcs<S extends DescService, C extends AnyCall, Deps>(
  service: S,
  functions: ServiceFunctions<S, C, Deps>,
  deps: Deps,
  transact?: Transact<Deps>,
  own: object = {},
): readonly Rpc[] {
  return service.methods.filter(isUnary).map((method) => ({
    method,
    readOnly: isReadOnly(method),
    ...rulesOf(method),
    run: runnerOf(method, functionOf(method, functions), deps, method.localName in own ? undefined : transact),
  }));
}

function runnerOf<Deps>(
  method: DescMethodUnary,
  found: unknown,
  deps: Deps,
  transact: Transact<Deps> | undefined,
): Rpc["run"] {
  const perform = found as RpcFunction<DescMethodUnary, AnyCall, Deps>;
  const toResponse = (returned: ReturnOf<DescMethodUnary>) =>
    hasForms(returned) ? returned : create(method.output, returned);
  if (isReadOnly(method) || transact === undefined) {
    return (request, call) => {
      const returned = perform(request, call, deps);
      return returned instanceof Promise ? returned.then(toResponse) : toResponse(returned);
    };
  }
  if (AROUND_TRANSACTION.has(perform)) {
    const around = found as AroundFunction<Message, AnyCall, Deps, Message>;
    return (request, call) => around(request, call, deps, (work) => transact({ method, request, call }, work));
  }
  return (request, call) =>
    transact(
      { method, request, call },
      async (inTransaction) =>
        // The function returns a message, because stored responses are messages.
        perform(request, call, inTransaction) as MessageInitShape<DescMessage>,
    );
}

export function listStreams<S extends DescService, C extends AnyCall, Deps>(
  service: S,
  functions: ServiceFunctions<S, C, Deps>,
  deps: Deps,
): readonly StreamRpc[] {
  return service.methods.filter(isStreaming).map((method) => {
    const perform = functionOf(method, functions) as StreamFunction<DescMethod, AnyCall, Deps>;
    const run: StreamRpc["run"] = (request, call, signal) => perform(request, call, deps, signal);
    return { method, ...rulesOf(method), run };
  });
}

function functionOf(method: DescMethod, functions: object): unknown {
  const found = (functions as Readonly<Record<string, unknown>>)[method.localName];
  if (found === undefined) throw new Error(`${String(method)} has no function`);
  return found;
}

function rulesOf(method: DescMethod): RpcRules {
  const audience = audienceOf(method);
  const readOnly = isReadOnly(method);
  const common = commonReasons({ audience, readOnly, hasBody: true });
  return {
    name: `${method.parent.typeName}/${method.name}`,
    audience,
    minimumRole: operatorRoleOf(getOption(method, minimum_role)) ?? (readOnly ? "viewer" : "operator"),
    minimumMemberRole: memberRoleOf(getOption(method, minimum_member_role)) ?? (readOnly ? "viewer" : "member"),
    mode: modeOf(getOption(method, mode)),
    limitClass: limitClassOf(getOption(method, limit_class)) ?? (readOnly ? "read" : "write"),
    forCouriers: getOption(method, for_couriers),
    forCourierLinks: getOption(method, for_courier_links),
    maxRequestBytes: getOption(method, max_request_bytes) || MAX_REQUEST_BYTES,
    refusalReasons: new Set([...common, ...getOption(method, refusal_reasons)]),
  };
}

const operatorRoleOf = compileEnumName<OperatorRole>(OperatorRoleSchema);
const memberRoleOf = compileEnumName<MemberRole>(MemberRoleSchema);
const modeOf = compileEnumName<Mode>(ModeSchema);
const limitClassOf = compileEnumName<LimitClass>(LimitClassSchema);

function isReadOnly({ idempotency }: DescMethod): boolean {
  return idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

export function isStream(rpc: Rpc | StreamRpc): rpc is StreamRpc {
  return isStreaming(rpc.method);
}

function isStreaming(method: DescMethod): method is DescMethodServerStreaming {
  return method.methodKind === "server_streaming";
}
