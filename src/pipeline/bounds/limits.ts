import { MAX_REQUEST_BYTES } from "../../domain/limits.ts";
import { DEFAULT_LIMITS, type RateLimit } from "../../domain/rate-limit.ts";

/*
 * Limits on the work that a caller can cause in a process, so that no caller crowds out others. The values come first,
 * then the list of limits in the order in which they are checked. The operations guide contains the same list.
 */

const KIB = 1024;
const MIB = 1024 * KIB;

/** Limits per server, for all connections together and for each connection. Times are in milliseconds. */
export const CONNECTIONS = {
  /** Maximum number of open connections, in total and per address. The address can belong to a proxy. */
  maxConnections: 10_000,
  maxConnectionsOfAddress: 5_000,
  /** Maximum time from connecting to the first request, in milliseconds. */
  silentMs: 10_000,
  /**
   * Maximum number of concurrent calls per connection. The limit is lower for HTTP/1.1, because responses to pipelined
   * requests are sent in order and accumulate.
   */
  maxServed: 250,
  maxServedOfHttp1: 32,
  /** Maximum number of waiting calls on all connections in total. */
  maxWaiting: 20_000,
  /** Unsent bytes of a connection above which further calls wait, and above which responses are dropped. */
  pauseBytes: 16 * MIB,
  maxBytesOfConnection: 64 * MIB,
  /** Unsent bytes of all connections above which `pressedBytes` replaces `pauseBytes` and `maxBytesOfConnection`. */
  maxBytes: 128 * MIB,
  pressedBytes: MIB,
  /** Memory of a call without its response, in bytes, measured with 9,000 small calls. */
  callBytes: 32 * KIB,
  /** Maximum time that a response may make no progress, normally and under memory pressure. */
  stallMs: 30_000,
  slowMs: 1_000,
  /** Interval between checks of the connections, in milliseconds. */
  sweepMs: 1_000,
} as const;

export type ConnectionLimits = { readonly [Name in keyof typeof CONNECTIONS]: number };

/** Maximum rate of stream resets on an HTTP/2 connection, above which the connection is closed. */
export const STREAM_RESETS: RateLimit = { rate: 500, burst: 5_000 };

/** Maximum rate per address of well-formed but unknown keys. Each costs a lookup. */
export const UNKNOWN_KEYS: RateLimit = { rate: 100, burst: 1_000 };
/** Maximum rate of failed sign-ins per address, through links and the identity provider in total. */
export const SIGN_IN_ATTEMPTS: RateLimit = { rate: 1, burst: 20 };
/** Maximum rate of invalid tracking links per address, including lookups in progress. */
export const INVALID_LINKS: RateLimit = { rate: 1, burst: 60 };
/** Maximum rate of page reads per tracking link, for all readers in total. */
export const LINK_READS: RateLimit = { rate: 5, burst: 100 };
/**
 * Maximum number of concurrent streams per tracking link, per address and per process. With the limit per process,
 * streams through one proxy do not use up its connections.
 */
export const LINK_STREAMS = { ofLink: 5, ofAddress: 20, ofProcess: 4_000 } as const;
/** Rate limit per client address for payment provider events whose signature is invalid or not yet verified. */
export const UNSIGNED_EVENTS: RateLimit = { rate: 10, burst: 200 };
/** Limits on lookups of unknown credentials, which leave most database connections free for calls. */
export const LOOKUPS = { concurrency: 4, maxWaiting: 5_000, maxWaitMs: 2_000 } as const;

/** Maximum number of calls in flight, that is, calls whose work has started but not finished. */
export const IN_FLIGHT = { ofProcess: 1_000, ofAccount: 250, waitingOfAccount: 10_000 } as const;

/** Maximum number of concurrent calls that `Simulate` delays. */
export const SLOWED = { ofAccount: 20, ofProcess: 500 } as const;

/** Maximum number of open streams. A holder is one person, or all keys of a workspace. */
export const STREAMS = { ofProcess: 500, ofAccount: 100, ofHolder: 20 } as const;

/**
 * Memory limits for all calls in total, in bytes: for requests above the default size (enough for two requests of the
 * maximum size), and for large unshared responses.
 */
export const MEMORY = { requests: 130 * MIB, answers: 128 * MIB } as const;

export const DATABASE_CONNECTIONS = { ofProcess: 20, ofAccount: 10, maxWaitMs: 2_000 } as const;

export interface Limit {
  readonly what: string;
  readonly bound: string;
  /** Effect of exceeding the limit, and the setting that changes it, if any. */
  readonly beyond: string;
  /** Path below `src` of the file that enforces the limit. */
  readonly where: string;
}

export const SERVER_LIMITS: readonly Limit[] = [
  {
    what: "open connections",
    bound: `${n(CONNECTIONS.maxConnections)} in total, ${n(CONNECTIONS.maxConnectionsOfAddress)} per address`,
    beyond: "then an idle connection is closed",
    where: "transport/connections/connections.ts",
  },
  {
    what: "time until a connection's first call",
    bound: seconds(CONNECTIONS.silentMs),
    beyond: "then the connection is closed",
    where: "transport/connections/connections.ts",
  },
  {
    what: "concurrent calls per connection",
    bound: `${CONNECTIONS.maxServed} (gRPC), ${CONNECTIONS.maxServedOfHttp1} (HTTP/1.1)`,
    beyond: `${n(CONNECTIONS.maxWaiting)} more wait, further calls are refused`,
    where: "transport/connections/connection-calls.ts",
  },
  {
    what: "stream resets per connection",
    bound: thenRate(STREAM_RESETS),
    beyond: "the connection is closed",
    where: "transport/grpc/grpc-server.ts",
  },
  {
    what: "time without reading from a response",
    bound: seconds(CONNECTIONS.stallMs),
    beyond: "the stream or connection is closed",
    where: "transport/connections/unread-responses.ts",
  },
  {
    what: "unsent responses per gRPC connection",
    bound: mib(CONNECTIONS.pauseBytes),
    beyond: `further calls wait; above ${mib(CONNECTIONS.maxBytesOfConnection)}, streams are closed (\`ENHANCE_YOUR_CALM\`)`,
    where: "transport/connections/connection-calls.ts",
  },
  {
    what: `all unsent responses, plus ${kib(CONNECTIONS.callBytes)} each`,
    bound: mib(CONNECTIONS.maxBytes),
    beyond: `responses unread for ${seconds(CONNECTIONS.slowMs)} are aborted`,
    where: "transport/connections/unread-responses.ts",
  },
];

export const CALL_LIMITS: readonly Limit[] = [
  {
    what: "lookups of unknown keys per address",
    bound: thenRate(UNKNOWN_KEYS),
    beyond: "`RATE_LIMITED` for keys that are not cached",
    where: "pipeline/credentials/authenticate.ts",
  },
  {
    what: "failed sign-ins per address",
    bound: thenRate(SIGN_IN_ATTEMPTS),
    beyond: "`RATE_LIMITED` (429)",
    where: "transport/http/sign-in.ts",
  },
  {
    what: "concurrent lookups of unknown credentials",
    bound: String(LOOKUPS.concurrency),
    beyond: `${n(LOOKUPS.maxWaiting)} more wait up to ${seconds(LOOKUPS.maxWaitMs)}`,
    where: "pipeline/credentials/lookups.ts",
  },
  {
    what: "calls in flight",
    bound: n(IN_FLIGHT.ofProcess),
    beyond: "`UNAVAILABLE` (503)",
    where: "pipeline/bounds/in-flight-limit.ts",
  },
  {
    what: "calls in flight per workspace",
    bound: String(IN_FLIGHT.ofAccount),
    beyond: `${n(IN_FLIGHT.waitingOfAccount)} more wait, then \`UNAVAILABLE\``,
    where: "pipeline/bounds/in-flight-limit.ts",
  },
  {
    what: "writes per workspace",
    bound: thenRate(DEFAULT_LIMITS.write),
    beyond: "`RATE_LIMITED`; set with `limits set`",
    where: "pipeline/bounds/rate-limiter.ts",
  },
  {
    what: "request size, unless the method allows more",
    bound: kib(MAX_REQUEST_BYTES),
    beyond: "`BODY_TOO_LARGE` (413)",
    where: "pipeline/rpc.ts",
  },
  {
    what: "total size of larger requests",
    bound: mib(MEMORY.requests),
    beyond: "`UNAVAILABLE` before the body is read",
    where: "pipeline/bounds/memory-budget.ts",
  },
  {
    what: "database connections per workspace",
    bound: `${DATABASE_CONNECTIONS.ofAccount} of ${DATABASE_CONNECTIONS.ofProcess}`,
    beyond: `\`UNAVAILABLE\` after waiting ${seconds(DATABASE_CONNECTIONS.maxWaitMs)}`,
    where: "db/connection-shares.ts",
  },
  {
    what: "streams",
    bound: `${STREAMS.ofAccount} per workspace, ${STREAMS.ofProcess} in total`,
    beyond: "`RATE_LIMITED` or `UNAVAILABLE`",
    where: "pipeline/stages/execute-stream.ts",
  },
  {
    what: "total size of documents over Connect and gRPC-Web",
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
  return `burst of ${n(burst)}, then ${n(rate)}/s`;
}
