/** Parameters of a load. See `load-process.ts`. */
export interface Load {
  /** Loopback ports of servers among which clients are distributed. */
  readonly ports: readonly number[];
  /** Can contain tokens of `numbering.ts`, replaced for each request. */
  readonly request:
    | { readonly protocol: "HTTP/1.1"; readonly body: Uint8Array }
    | {
        readonly protocol: "HTTP/2";
        readonly headers: Readonly<Record<string, string>>;
        readonly body: Uint8Array;
      };
  /** Keys of equal length. The first one in the request is replaced by the next for each request. */
  readonly apiKeys: readonly string[];
  /** Number of clients, each with one request in flight. */
  readonly clients: number;
  readonly seconds: number;
  /** Rate of all clients together. Defaults to the maximum. */
  readonly requestsPerSecond?: number;
  /** Workspace feed to follow during HTTP/1.1 bookings. */
  readonly feed?: { readonly port: number; readonly apiKey: string };
  /** Number of the first request. */
  readonly first: number;
  /** Number of existing shipments, used in turn. */
  readonly shipments: number;
}

/** Outcome of a load. */
export interface Outcome {
  /** Number of requests sent, all answered unless there is a fault. */
  readonly issued: number;
  /** Rate of responses within the time. The latencies below include all. */
  readonly requestsPerSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** Sorted delays of events after booking responses. Empty if not followed. */
  readonly feedLagsMs: Float64Array;
  /** First error, `undefined` if all responses were correct. */
  readonly fault: string | undefined;
}

/** Called once with an error, if any, and the response where it is kept. */
export type Done = (fault?: string, answer?: Buffer) => void;

/** Sends a request. */
export type Send = (request: Buffer, done: Done) => void;

/** A connection with a sender for each concurrent request. */
export interface Connection {
  readonly sends: readonly Send[];
  close(): void;
}
