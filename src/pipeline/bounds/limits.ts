import { MAX_REQUEST_BYTES } from "../../domain/limits.ts";
import { DEFAULT_LIMITS, type RateLimit } from "../../domain/rate-limit.ts";

/*
 * What bounds the work that callers can give a process, so that none can keep out the others: the
 * figures that the mechanisms work by, and below them the list of all, in the order that a call meets
 * them. The guide to operations has the same list.
 */

const KIB = 1024;
const MIB = 1024 * KIB;

/** Of each server of a process, all its connections together, and each. Times are in milliseconds. */
export const CONNECTIONS = {
  /** How many may be open, and of them from one address, which may be a proxy's. */
  maxConnections: 10_000,
  maxConnectionsOfAddress: 5_000,
  /** How long one may take to bring its first request. */
  silentMs: 10_000,
  /** How many calls of one are served at once; HTTP/1.1 answers a pipeline in its order, so that responses pile up. */
  maxServed: 250,
  maxServedOfHttp1: 32,
  /** How many calls may wait on all connections. */
  maxWaiting: 20_000,
  /** How much may wait to be sent before further calls wait too, and before responses are dropped, in bytes. */
  pauseBytes: 16 * MIB,
  maxBytesOfConnection: 64 * MIB,
  /** When so much waits on all connections, `pressedBytes` takes the place of both. */
  maxBytes: 128 * MIB,
  pressedBytes: MIB,
  /** What a call costs in memory beside its response, in bytes, as measured with 9,000 small ones. */
  callBytes: 32 * KIB,
  /** How long a response may wait without a byte being taken; and when all together are too many. */
  stallMs: 30_000,
  slowMs: 1_000,
  /** How often connections are looked at. */
  sweepMs: 1_000,
} as const;

export type ConnectionLimits = { readonly [Name in keyof typeof CONNECTIONS]: number };

/** Resets of streams on an HTTP/2 connection, above which it is closed. */
export const STREAM_RESETS: RateLimit = { rate: 500, burst: 5_000 };

/** How often an address may send well-formed keys that turn out to be unknown: each costs a look-up. */
export const UNKNOWN_KEYS: RateLimit = { rate: 100, burst: 1_000 };
/** How often an address may fail to sign in, by links and a provider together. */
export const SIGN_IN_ATTEMPTS: RateLimit = { rate: 1, burst: 20 };
/** How many invalid tracking links an address may open, or have under way. */
export const INVALID_LINKS: RateLimit = { rate: 1, burst: 60 };
/** How often the page of one tracking link is read, by all who have it. */
export const LINK_READS: RateLimit = { rate: 5, burst: 100 };
/**
 * How often a tracking link is followed at once, by all who have it; an address, all of it; and how many streams that are
 * in all: a proxy's connections leave room for all calls in flight.
 */
export const LINK_STREAMS = { ofLink: 5, ofAddress: 20, ofProcess: 4_000 } as const;
/** How many notices of payment providers from an address may be under way or have turned out to be unsigned. */
export const UNSIGNED_NOTICES: RateLimit = { rate: 10, burst: 200 };
/** Look-ups of credentials that are not known to be good, so that most connections are for calls. */
export const LOOK_UPS = { atOnce: 4, maxWaiting: 5_000, maxWaitMs: 2_000 } as const;

/** Calls whose work has begun and not ended. */
export const IN_FLIGHT = { ofProcess: 1_000, ofAccount: 250, waitingOfAccount: 10_000 } as const;

/** How many calls may be slowed down at once, as `Simulate` asks, in a process. */
export const SLOWED = { ofAccount: 20, ofProcess: 500 } as const;

/** Open streams; a holder is one person, or all keys of a workspace. */
export const STREAMS = { ofProcess: 500, ofAccount: 100, ofHolder: 20 } as const;

/**
 * Memory that calls take together, in bytes: requests larger than most RPCs allow, two of the largest;
 * and large responses that are not shared by calls.
 */
export const MEMORY = { requests: 130 * MIB, answers: 128 * MIB } as const;

export const DATABASE_CONNECTIONS = { ofProcess: 20, ofAccount: 10, maxWaitMs: 2_000 } as const;

export interface Limit {
  readonly what: string;
  readonly bound: string;
  /** What happens to what is too much, and the setting of the bound where there is one. */
  readonly beyond: string;
  /** The file, below `src`, that keeps to it. */
  readonly where: string;
}

export const SERVER_LIMITS: readonly Limit[] = [
  {
    what: "open connections",
    bound: `${n(CONNECTIONS.maxConnections)}; ${n(CONNECTIONS.maxConnectionsOfAddress)} of an address`,
    beyond: "an idle one is closed",
    where: "transport/connections/connections.ts",
  },
  {
    what: "time until a connection's first call",
    bound: seconds(CONNECTIONS.silentMs),
    beyond: "it is closed",
    where: "transport/connections/connections.ts",
  },
  {
    what: "calls at once on a connection",
    bound: `${CONNECTIONS.maxServed} (gRPC), ${CONNECTIONS.maxServedOfHttp1} (HTTP/1.1)`,
    beyond: `${n(CONNECTIONS.maxWaiting)} wait, then are refused`,
    where: "transport/connections/connection-calls.ts",
  },
  {
    what: "resets by a caller on a connection",
    bound: thenRate(STREAM_RESETS),
    beyond: "it is closed",
    where: "transport/grpc/grpc-server.ts",
  },
  {
    what: "time in which nothing of an answer is read",
    bound: seconds(CONNECTIONS.stallMs),
    beyond: "stream or connection is closed",
    where: "transport/connections/unread-responses.ts",
  },
  {
    what: "unsent answers of a gRPC connection",
    bound: `${mib(CONNECTIONS.pauseBytes)}; ${mib(CONNECTIONS.maxBytesOfConnection)}`,
    beyond: "calls wait; `ENHANCE_YOUR_CALM`",
    where: "transport/connections/connection-calls.ts",
  },
  {
    what: `unsent answers in all, ${kib(CONNECTIONS.callBytes)} added to each`,
    bound: mib(CONNECTIONS.maxBytes),
    beyond: `unread for ${seconds(CONNECTIONS.slowMs)}: closed`,
    where: "transport/connections/unread-responses.ts",
  },
];

export const CALL_LIMITS: readonly Limit[] = [
  {
    what: "look-ups of unknown keys of an address",
    bound: thenRate(UNKNOWN_KEYS),
    beyond: "`RATE_LIMITED`, unless cached",
    where: "pipeline/credentials/authenticate.ts",
  },
  {
    what: "failed attempts of an address to sign in",
    bound: thenRate(SIGN_IN_ATTEMPTS),
    beyond: "`RATE_LIMITED` (429)",
    where: "transport/http/sign-in.ts",
  },
  {
    what: "unknown credentials looked up",
    bound: String(LOOK_UPS.atOnce),
    beyond: `${n(LOOK_UPS.maxWaiting)} wait, for ${seconds(LOOK_UPS.maxWaitMs)} each`,
    where: "pipeline/credentials/look-ups.ts",
  },
  {
    what: "calls in flight",
    bound: n(IN_FLIGHT.ofProcess),
    beyond: "`UNAVAILABLE` (503)",
    where: "pipeline/bounds/in-flight-limit.ts",
  },
  {
    what: "calls in flight of a workspace",
    bound: String(IN_FLIGHT.ofAccount),
    beyond: `${n(IN_FLIGHT.waitingOfAccount)} wait, then \`UNAVAILABLE\``,
    where: "pipeline/bounds/in-flight-limit.ts",
  },
  {
    what: "calls of a workspace that write",
    bound: thenRate(DEFAULT_LIMITS.write),
    beyond: "`RATE_LIMITED`; `limits set`",
    where: "pipeline/bounds/rate-limiter.ts",
  },
  {
    what: "a request, unless its method says more",
    bound: kib(MAX_REQUEST_BYTES),
    beyond: "`BODY_TOO_LARGE` (413)",
    where: "pipeline/rpc.ts",
  },
  {
    what: "larger requests, together",
    bound: mib(MEMORY.requests),
    beyond: "`UNAVAILABLE`, before reading",
    where: "pipeline/bounds/memory-budget.ts",
  },
  {
    what: "connections of a workspace, of the 20",
    bound: `${DATABASE_CONNECTIONS.ofAccount}; bookings share`,
    beyond: `${seconds(DATABASE_CONNECTIONS.maxWaitMs)} of waiting, \`UNAVAILABLE\``,
    where: "db/connection-shares.ts",
  },
  {
    what: "streams of a workspace",
    bound: `${STREAMS.ofAccount}; ${STREAMS.ofProcess} of all`,
    beyond: "`RATE_LIMITED`; `UNAVAILABLE`",
    where: "pipeline/stages/execute-stream.ts",
  },
  {
    what: "documents by Connect, gRPC-Web, together",
    bound: mib(MEMORY.answers),
    beyond: "`UNAVAILABLE`",
    where: "pipeline/bounds/memory-budget.ts",
  },
];

function n(count: number): string {
  return count.toLocaleString("en-US");
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`;
}

function kib(bytes: number): string {
  return `${bytes / KIB} KiB`;
}

function mib(bytes: number): string {
  return `${bytes / MIB} MiB`;
}

function thenRate({ rate, burst }: RateLimit): string {
  return `${n(burst)}, then ${n(rate)}/s`;
}
