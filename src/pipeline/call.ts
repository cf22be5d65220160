import type { DescMethod, Message } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import type { KeyScope, MemberRole, OperatorRole } from "../domain/roles.ts";
import type { RateLimits, RateLimitState } from "../domain/rate-limit.ts";
import type { Refusal, Violation } from "../domain/refusal.ts";
import type { CallHeaders } from "./call-headers.ts";
import type { RequestSpan, TracedEvent, WorkSpan } from "./tracer.ts";

/**
 * Intended callers of an RPC: workspaces and operators with an API key, or signed-in people. People can also call
 * workspace RPCs as members, and operator RPCs as operators.
 */
export type Audience = "workspace" | "operator" | "person";

export interface SignedInPerson {
  readonly personId: number;
  readonly email: string;
  readonly sessionId: number;
  /** The only workspace that the session can access. Null if the session has all permissions of the person. */
  readonly boundTo: number | null;
}

/** An API key without its secret, for display. */
export interface CallerKey {
  readonly id: string;
  readonly name: string | null;
  readonly last4: string;
}

/** A courier who opened a link. */
export interface CallerCourier {
  readonly id: string;
  readonly name: string;
}

/** Returns the name of a key, or the last four characters of an unnamed key. */
export function keyLabel({ name, last4 }: CallerKey): string {
  return name ?? last4;
}

/** The workspace of an API key, or of a member's call. */
export interface WorkspaceCaller {
  readonly audience: "workspace";
  /** Key of the rate limits: the workspace id, or the id of a courier who opened a link. */
  readonly account: number | string;
  readonly workspaceId: number;
  readonly limits: RateLimits;
  /** Whether this is the test twin of a live workspace. */
  readonly test: boolean;
  readonly suspended: boolean;
  /** Undefined for a person. */
  readonly keyId: string | undefined;
  /** The API key as shown in events and the audit log. Undefined for a person. */
  readonly key: CallerKey | undefined;
  /** Undefined for a person. */
  readonly keyScope: KeyScope | undefined;
  /** The courier who opened a link, limited to the shipments assigned to the courier. Undefined for other callers. */
  readonly courier?: CallerCourier;
  /** Whether the courier can change the order of the stops. Undefined for other callers. */
  readonly canReorder?: boolean;
  /** Undefined for an API key and for a courier. */
  readonly member: Member | undefined;
  /** Returns the tracking link of a shipment. Undefined if tracking links are disabled. */
  readonly trackingUrlOf: ((reference: string) => string) | undefined;
  /** Whether recipients receive emails about shipments. */
  readonly notifiesRecipients: boolean;
}

interface Member extends SignedInPerson {
  readonly role: MemberRole;
}

export interface OperatorCaller {
  readonly audience: "operator";
  readonly account: string;
  /** Origin of the call. `service` is the service itself when it fills an empty database with sample data. */
  readonly actor: "operator" | "command_line" | "service";
  readonly operatorId: number | undefined;
  /** Undefined without an API key. */
  readonly keyId: string | undefined;
  readonly name: string;
  readonly role: OperatorRole;
  readonly limits: RateLimits;
}

/** A person who manages their own account. */
interface PersonCaller extends SignedInPerson {
  readonly audience: "person";
  readonly account: string;
  readonly limits: RateLimits;
}

export type Caller = WorkspaceCaller | OperatorCaller | PersonCaller;

export interface KeyLookup<C extends Caller = Caller> {
  /** Returns the cached caller of a key. Undefined if the key must be looked up. */
  recall(key: string): C | undefined;
  /**
   * Returns the caller of a well-formed key. Undefined if the key is unknown, revoked or expired.
   * Rejects if the key is not cached and the database is unavailable.
   */
  find(key: string): Promise<C | undefined>;
}

/** Lookups of keys by audience. Each lookup finds only keys of its audience. People have no keys. */
export type KeyLookups = {
  readonly [A in Exclude<Audience, "person">]: KeyLookup<Caller & { audience: A }>;
};

export interface SessionLookup {
  /**
   * Returns the caller of a session for the RPCs of an audience. Undefined if the session is unknown or
   * has expired. Rejects if the database is unavailable.
   *
   * @param workspace workspace id in the call, if any
   * @throws Refusal NOT_A_MEMBER, NOT_AN_OPERATOR, or FIELD_INVALID if the call requires a workspace and has none
   */
  find(token: string, audience: Audience, workspace: string | undefined): Promise<Caller | undefined>;
  /** Like `find`, for the session of a courier who opened a link. */
  findCourier(token: string): Promise<WorkspaceCaller | undefined>;
}

export interface Peer {
  readonly remoteAddress?: string | undefined;
}

/**
 * A call on any server, from reading its headers until its end. The log line, metrics and span are
 * written from this record. The server sets the route, and the pipeline sets the other fields.
 */
export interface ReceivedCall {
  readonly headers: CallHeaders;
  readonly peer: Peer;
  /** IP address of the caller: the peer, or the address that a trusted proxy reports. */
  readonly address: string;
  /** Time on the clock of `performance.now()`, like all fields here that end in `Ms`. */
  readonly startedMs: number;
  /** Undefined if tracing is disabled. */
  span: CallSpan | undefined;
  /** URL path without the query. Undefined for the path of an RPC. */
  path: string | undefined;
  /** Whether the query contains an API key. Keys are accepted only in headers. */
  hasKeyInQuery: boolean;
  /** For example `shipments.v1.ShipmentService/QuoteShipment`. Undefined before routing. */
  method: string | undefined;
  /** Undefined if the caller has set no deadline. */
  deadlineMs: number | undefined;
  /** The credential, not yet verified. Undefined until it is read. */
  credential: string | undefined;
  /** Remaining rate limit for this class of calls. Undefined before the call is counted. */
  rateLimit: RateLimitState | undefined;
  /** Result of the `Simulate` header. Undefined if there is no such header. */
  simulation: Simulation | undefined;
  /** The authenticated caller, even if the call is later refused. */
  caller: Caller | undefined;
  /** The refusal or failure, if any. */
  refusal: Refusal | undefined;
  /** The method and the decoded, possibly invalid request. Undefined before decoding. */
  decoded: { readonly method: DescMethod; readonly request: Message } | undefined;
  /** The admitted call. Undefined before admission and if admission fails. */
  admitted: AnyCall | undefined;
  /** gRPC status code of the response, 0 for success. Undefined before the response. */
  code: Code | 0 | undefined;
  /** True once the response was sent or the caller has disconnected. */
  hasEnded: boolean;
  /** Called when `hasEnded` becomes true. */
  onEnd: (() => void) | undefined;
}

/** Lower-case names of the gRPC status codes. */
const CODE_NAMES: ReadonlyMap<number, string> = new Map([
  [0, "ok"],
  ...Object.entries(Code)
    .filter((entry): entry is [string, Code] => typeof entry[1] === "number")
    .map(([name, code]): [number, string] => [code, name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase()]),
]);

/** Returns the name of a gRPC status code in lower case, such as `deadline_exceeded`. */
export function codeName(code: Code | 0): string {
  return CODE_NAMES.get(code) ?? "unknown";
}

interface Simulation {
  /** Value of the response header `Simulated`: the simulated faults, or `ignored`. */
  readonly result: string;
  /** Whether the connection (HTTP/2: the stream) is closed without a response after the work is finished. */
  readonly losesAnswer: boolean;
  /** Whether slots are filled before the call requests places in them. */
  readonly fillsSlots?: boolean;
  /** Faults of the webhook deliveries caused by the call. */
  readonly deliveryFaults?: DeliveryFaults | undefined;
}

export interface DeliveryFaults {
  readonly duplicated: boolean;
  /** Whether webhooks are delayed and sent in reverse order. */
  readonly reordered: boolean;
  /** Number of initial delivery attempts that fail without a request. Null if none fails. */
  readonly failures: number | null;
}

export interface Decoding {
  /** Violations for fields that cannot be decoded, for example because of a wrong JSON type. */
  readonly violations?: readonly Violation[] | undefined;
  /** Violations for unknown parameters and fields. They cause the refusal of the whole request. */
  readonly unknown?: readonly Violation[] | undefined;
  /** Paths of all unknown fields, whether refused or ignored. */
  readonly unknownFields?: readonly string[] | undefined;
}

/** A call that is authenticated, authorized and within its rate limit. */
export interface AdmittedCall<C extends Caller> {
  readonly received: ReceivedCall;
  /** For example `shipments.v1.ShipmentService/QuoteShipment`. */
  readonly method: string;
  readonly caller: C;
  /** Violations in list items. The RPC's function reports them per item. */
  itemViolations: readonly Violation[];
  /** Paths of unknown fields in the request. */
  unknownFields: readonly string[];
  /** Idempotency key of a call that writes. */
  idempotencyKey: string | undefined;
  /** Whether the response is a stored response. */
  replayed: boolean;
  /** Frozen time of a test twin. Undefined if the real time applies. */
  testTime: Date | undefined;
}

export type Call = AdmittedCall<WorkspaceCaller>;

/** Creates a call that the service itself makes in a workspace or test twin. */
export type CallIn = (workspace: number, test: boolean) => Promise<Call>;

export type OperatorCall = AdmittedCall<OperatorCaller>;

export type PersonCall = AdmittedCall<PersonCaller>;

export type AnyCall = AdmittedCall<Caller>;

const NONE: readonly never[] = [];

export function receiveCall(headers: CallHeaders, peer: Peer, address = peer.remoteAddress ?? ""): ReceivedCall {
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

export function admitCall<C extends Caller>(received: ReceivedCall, method: string, caller: C): AdmittedCall<C> {
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
  /** Starts the span of a call, in the caller's trace if the call has one. */
  begin(call: ReceivedCall): CallSpan;
}

export interface CallSpan {
  readonly traceId: string;
  /** Whether the trace is sampled. Unsampled spans cost almost no time. */
  readonly isRecorded: boolean;
  /**
   * Marks the call as a plain HTTP request instead of an RPC.
   *
   * @param path without the query
   * @param route template of the path. Undefined for an unknown path
   */
  setHttpRequest(method: string, path: string, route: string | undefined): void;
  /** Starts the span of a database transaction for this call and the calls of `others`. */
  beginTransaction(others: readonly CallSpan[]): WorkSpan;
  /** Starts the span of this call's request to another service. The span contains the URL's host and port. */
  beginRequest(method: string, url: string): RequestSpan;
  /** Links the webhook deliveries of an event to this call's trace. */
  setCauseOf(event: TracedEvent): void;
  /** Ends the span. Call it once, with the complete record. `httpStatus` is 0 if no response was sent. */
  end(call: ReceivedCall, httpStatus: number, endedMs: number): void;
}
