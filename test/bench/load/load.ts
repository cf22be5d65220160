/** Parameters of a load, which `load-process.ts` generates. */
export interface Load {
  /** Loopback ports of the servers. Clients are distributed among them. */
  readonly ports: readonly number[];
  /** Request with tokens of `numbering.ts`, which are replaced each time. */
  readonly request:
    | { readonly protocol: "HTTP/1.1"; readonly body: Uint8Array }
    | {
        readonly protocol: "HTTP/2";
        readonly headers: Readonly<Record<string, string>>;
        readonly body: Uint8Array;
      };
  /** Keys of equal length, used in turn. They replace the first key in the request. */
  readonly apiKeys: readonly string[];
  /** Number of clients, each with one request in flight. */
  readonly clients: number;
  readonly seconds: number;
  /** Request rate over all clients. Unlimited by default. */
  readonly requestsPerSecond?: number;
  /** Feed to follow during bookings over HTTP/1.1. */
  readonly feed?: { readonly port: number; readonly apiKey: string };
  /** Number of the load's first request. */
  readonly first: number;
  /** Number of existing shipments, which requests use in turn. */
  readonly shipments: number;
}

export interface Outcome {
  /** Number of requests sent. All have a response unless there is a fault. */
  readonly issued: number;
  /** Rate of the responses that arrived before the end of the load. The latencies below cover all responses. */
  readonly requestsPerSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** Sorted delays between booking responses and events. Empty without a feed. */
  readonly feedLagsMs: Float64Array;
  /** First error. `undefined` if all responses were correct. */
  readonly fault: string | undefined;
}

/** Called once per request, with an error if it failed, and with the response if the connection keeps it. */
export type Done = (fault?: string, answer?: Buffer) => void;

export type Send = (request: Buffer, done: Done) => void;

/** A connection that provides one sender per concurrent request. */
export interface Connection {
  readonly sends: readonly Send[];
  close(): void;
}
