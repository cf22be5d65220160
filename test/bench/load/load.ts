/** What the load generator is to do; see `load-process.ts`. */
export interface Load {
  /** Of servers on the loopback address, which the clients are shared out between. */
  readonly ports: readonly number[];
  /** May hold tokens of `numbering.ts`, which are filled in anew for each request. */
  readonly request:
    | { readonly protocol: "HTTP/1.1"; readonly body: Uint8Array }
    | {
        readonly protocol: "HTTP/2";
        readonly headers: Readonly<Record<string, string>>;
        readonly body: Uint8Array;
      };
  /** Of one length; where the request holds the first, each request holds the next of them. */
  readonly apiKeys: readonly string[];
  /** How many requests are in flight, each client waiting for its answer before it asks again. */
  readonly clients: number;
  readonly seconds: number;
  /** Of all clients together; as many as can be, if not given. */
  readonly requestsPerSecond?: number;
  /** Where the feed of the workspace is watched meanwhile, for bookings by HTTP/1.1. */
  readonly feed?: { readonly port: number; readonly apiKey: string };
  /** The number of the first request. */
  readonly first: number;
  /** How many shipments there are to name, after which they begin anew. */
  readonly shipments: number;
}

/** What became of a load. */
export interface Outcome {
  /** How many requests were made; all of them were answered if there is no fault. */
  readonly issued: number;
  /** Of answers that came before the time was over; the times below are of all. */
  readonly requestsPerSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** How much later than the answer to a booking its event came, sorted; empty if nobody watched. */
  readonly feedLagsMs: Float64Array;
  /** What went wrong first; undefined when every request was answered as it should. */
  readonly fault: string | undefined;
}

/** Called once, with what went wrong if anything did, and the answer where it is kept. */
export type Done = (fault?: string, answer?: Buffer) => void;

/** Sends a request. */
export type Send = (request: Buffer, done: Done) => void;

/** A connection, with a way to send for each request that may be in flight on it. */
export interface Connection {
  readonly sends: readonly Send[];
  close(): void;
}
