import type { DescMethod, Message } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import type { KeyScope, MemberRole, OperatorRole } from "../domain/roles.ts";
import type { RateLimits, RateLimitState } from "../domain/rate-limit.ts";
import type { Refusal, Violation } from "../domain/refusal.ts";
import type { CallHeaders } from "./call-headers.ts";
import type { RequestSpan, TracedEvent, WorkSpan } from "./tracer.ts";

/**
 * Who may call an RPC: workspaces with an API key, operators of the platform with theirs, and people
 * who have signed in. These call the others' RPCs too, as members of a workspace or as operators.
 */
export type Audience = "workspace" | "operator" | "person";

export interface SignedInPerson {
  readonly personId: number;
  readonly email: string;
  readonly sessionId: number;
  /** The only workspace that the session acts in; null for all that the person may do. */
  readonly boundTo: number | null;
}

/** An API key without its secret. */
export interface CallerKey {
  readonly id: string;
  readonly name: string | null;
  readonly last4: string;
}

/** The name of a key, or its last four characters if it has none. */
export function keyLabel({ name, last4 }: CallerKey): string {
  return name ?? last4;
}

/** The workspace that an API key stands for, or that a person acts for. */
export interface WorkspaceCaller {
  readonly audience: "workspace";
  /** What its calls are counted by: the id of the workspace. */
  readonly account: number;
  readonly workspaceId: number;
  readonly limits: RateLimits;
  /** Whether it is the test twin of a live workspace. */
  readonly test: boolean;
  readonly suspended: boolean;
  /** The id of the key that the call carries; undefined for a person. */
  readonly keyId: string | undefined;
  /** The key as events and the audit log name it; undefined for a person. */
  readonly key: CallerKey | undefined;
  /** What the key may be used for; undefined for a person. */
  readonly keyScope: KeyScope | undefined;
  /** The member who calls; undefined for a key. */
  readonly member: Member | undefined;
  /** The tracking link of a shipment by its reference; undefined where the workspace has none. */
  readonly trackingUrlOf: ((reference: string) => string) | undefined;
  /** Whether the recipients of its shipments are told by mail what happens to them. */
  readonly notifiesRecipients: boolean;
}

export interface Member extends SignedInPerson {
  readonly role: MemberRole;
}

export interface OperatorCaller {
  readonly audience: "operator";
  readonly account: string;
  /** How it came in; `service` is the service itself, which fills an empty database. */
  readonly actor: "operator" | "command_line" | "service";
  readonly operatorId: number | undefined;
  /** The id of the key that the call carries; undefined without one. */
  readonly keyId: string | undefined;
  readonly name: string;
  readonly role: OperatorRole;
  readonly limits: RateLimits;
}

/** A person who manages what is their own. */
export interface PersonCaller extends SignedInPerson {
  readonly audience: "person";
  readonly account: string;
  readonly limits: RateLimits;
}

export type Caller = WorkspaceCaller | OperatorCaller | PersonCaller;

export interface KeyLookup<C extends Caller = Caller> {
  /** The caller of a key that is in memory; undefined when it has to be looked up. */
  recall(key: string): C | undefined;
  /**
   * The caller of a well-formed key; undefined when the key is unknown, revoked or expired. Rejects
   * when the key is not in memory and the database cannot be asked.
   */
  find(key: string): Promise<C | undefined>;
}

/** The look-up of each audience's keys. A key of one is unknown to the other; people have none. */
export type KeyLookups = {
  readonly [A in Exclude<Audience, "person">]: KeyLookup<Caller & { audience: A }>;
};

export interface SessionLookup {
  /**
   * The caller that a session stands for in calls of an audience's RPCs; undefined when the session is
   * unknown or has ended. Rejects when the database cannot be asked.
   *
   * @param workspace the id of the workspace that the call names; undefined when it names none
   * @throws Refusal NOT_A_MEMBER, NOT_AN_OPERATOR, FIELD_INVALID when no workspace is named
   */
  find(
    token: string,
    audience: Audience,
    workspace: string | undefined,
  ): Promise<Caller | undefined>;
}

/** The other end of the connection that a call came on. */
export interface Peer {
  readonly remoteAddress?: string | undefined;
}

/**
 * A call whose headers have been read, on whichever server it came in: the record that its log line,
 * metrics and span are made of when it has ended. The server notes where it leads, the pipeline the
 * rest.
 */
export interface ReceivedCall {
  readonly headers: CallHeaders;
  readonly peer: Peer;
  /** Where it comes from: the peer, or of trusted proxies whom they were called by. */
  readonly address: string;
  /** On the clock of `performance.now()`, as are all times here that end in `Ms`. */
  readonly startedMs: number;
  /** Undefined while tracing is off. */
  span: CallSpan | undefined;
  /** Where it was sent, without parameters; undefined where that is known to be an RPC's. */
  path: string | undefined;
  /** Whether the query of its URL has a key, which is read from headers only. */
  hasKeyInQuery: boolean;
  /** `shipments.v1.ShipmentService/QuoteShipment`; undefined until a route is found. */
  method: string | undefined;
  /** When the caller stops waiting; undefined when it does not say. */
  deadlineMs: number | undefined;
  /** The raw credential; undefined until it is read. */
  credential: string | undefined;
  /** What the caller has left for calls like this one; undefined until it is counted. */
  rateLimit: RateLimitState | undefined;
  /** What came of its `Simulate` header; undefined without one. */
  simulation: Simulation | undefined;
  /** Who calls, once that is known, whether or not they may. */
  caller: Caller | undefined;
  /** Why it was refused or failed; undefined until then. */
  refusal: Refusal | undefined;
  /** The method and the request once that is decoded, perhaps invalid; undefined until then. */
  decoded: { readonly method: DescMethod; readonly request: Message } | undefined;
  /** The call once it is admitted; undefined until then, and when it is refused before. */
  admitted: AnyCall | undefined;
  /** How the call ended, as a gRPC code; 0 is success; undefined until it is answered. */
  code: Code | 0 | undefined;
  /** Whether the answer has gone out, or the caller has gone. */
  hasEnded: boolean;
  /** Called at that moment; undefined for nothing. */
  onEnd: (() => void) | undefined;
}

/** The names of the codes, lower case with underscores, as gRPC's own tables write them. */
const CODE_NAMES: ReadonlyMap<number, string> = new Map([
  [0, "ok"],
  ...Object.entries(Code)
    .filter((entry): entry is [string, Code] => typeof entry[1] === "number")
    .map(([name, code]): [number, string] => [
      code,
      name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase(),
    ]),
]);

/** Lower case with underscores, as `deadline_exceeded`. */
export function codeName(code: Code | 0): string {
  return CODE_NAMES.get(code) ?? "unknown";
}

export interface Simulation {
  /** The faults that it meets, or `ignored`: the header `Simulated` of the answer. */
  readonly said: string;
  /** Whether the connection, or on HTTP/2 the stream, is cut when the work is done, instead of answering. */
  readonly losesAnswer: boolean;
  /** What the deliveries that the call causes meet; undefined for nothing. */
  readonly deliveryFaults?: DeliveryFaults | undefined;
}

export interface DeliveryFaults {
  readonly duplicated: boolean;
  /** Whether they are late, the last event first. */
  readonly reordered: boolean;
  /** How many attempts, from the first, fail without being sent; null for none. */
  readonly failures: number | null;
}

/** What was found before there was a message of a request. */
export interface Decoding {
  /** Fields that could not be read, as of the wrong JSON type. */
  readonly violations?: readonly Violation[] | undefined;
  /** Parameters and fields that there are not, for which all of the request is refused. */
  readonly unknown?: readonly Violation[] | undefined;
  /** The paths of fields that there are not, refused or ignored. */
  readonly unknownFields?: readonly string[] | undefined;
}

/** A call whose caller is known, may make it, and is within its limits. */
export interface AdmittedCall<C extends Caller> {
  readonly received: ReceivedCall;
  /** `shipments.v1.ShipmentService/QuoteShipment` */
  readonly method: string;
  readonly caller: C;
  /** Violations in list items that the RPC's function reports itself, item by item. */
  itemViolations: readonly Violation[];
  /** The paths of fields in the request that there are not. */
  unknownFields: readonly string[];
  /** The key under which the caller may repeat the call; only for calls that write. */
  idempotencyKey: string | undefined;
  /** Whether the response is a stored one. */
  replayed: boolean;
  /** When it counts as made, by the frozen clock of a test twin; undefined for the real time. */
  testTime: Date | undefined;
}

export type Call = AdmittedCall<WorkspaceCaller>;

/** Makes a call of the service itself in a workspace, or in a test twin. */
export type CallIn = (workspace: number, test: boolean) => Promise<Call>;

export type OperatorCall = AdmittedCall<OperatorCaller>;

export type PersonCall = AdmittedCall<PersonCaller>;

export type AnyCall = AdmittedCall<Caller>;

const NONE: readonly never[] = [];

export function receiveCall(
  headers: CallHeaders,
  peer: Peer,
  address = peer.remoteAddress ?? "",
): ReceivedCall {
  const startedMs = performance.now();
  return {
    headers,
    peer,
    address,
    startedMs,
    span: undefined,
    path: undefined,
    hasKeyInQuery: false,
    method: undefined,
    deadlineMs: headers.timeoutMs === undefined ? undefined : startedMs + headers.timeoutMs,
    credential: undefined,
    rateLimit: undefined,
    simulation: undefined,
    caller: undefined,
    refusal: undefined,
    decoded: undefined,
    admitted: undefined,
    code: undefined,
    hasEnded: false,
    onEnd: undefined,
  };
}

export function admitCall<C extends Caller>(
  received: ReceivedCall,
  method: string,
  caller: C,
): AdmittedCall<C> {
  const admitted = {
    received,
    method,
    caller,
    itemViolations: NONE,
    unknownFields: NONE,
    idempotencyKey: undefined,
    replayed: false,
    testTime: undefined,
  };
  received.admitted = admitted;
  return admitted;
}

export interface Tracer {
  /** Begins the span of a call, in the trace that its caller names, if it names one. */
  begin(call: ReceivedCall): CallSpan;
}

export interface CallSpan {
  readonly traceId: string;
  /** Whether the trace is sampled. What is not recorded costs a call next to nothing. */
  readonly isRecorded: boolean;
  /**
   * Says that the call is a plain HTTP request; without this it is an RPC.
   *
   * @param path without the query
   * @param route the template that the path follows; undefined when it leads nowhere
   */
  setHttpRequest(method: string, path: string, route: string | undefined): void;
  /** Begins a database transaction that is done for this call, and for those of `others`. */
  beginTransaction(others: readonly CallSpan[]): WorkSpan;
  /** Begins a request to another service for this call; the span has the URL's host and port. */
  beginRequest(method: string, url: string): RequestSpan;
  /** Says that the call is why an event is delivered, so that the attempts join its trace. */
  setCauseOf(event: TracedEvent): void;
  /** Ends the span. Call once, when the call's record is complete; `httpStatus` is 0 without an answer. */
  end(call: ReceivedCall, httpStatus: number, endedMs: number): void;
}
