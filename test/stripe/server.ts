import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Stripe } from "stripe";
import type { Books } from "./books.ts";
import { invalidRequest, noAccess, StripeRefusal, unauthenticated } from "./errors.ts";
import { newId, type Stamp } from "./objects.ts";
import { ROUTES, type Route } from "./routes.ts";

/** Keys and accounts known to the server. */
export interface Directory {
  stamp(): Stamp;
  /** Account id by key. */
  readonly keys: ReadonlyMap<string, string>;
  /** All accounts by id, including the platform's. */
  readonly accounts: ReadonlyMap<string, Books>;
  readonly platform: Books;
  connect(params: Stripe.AccountCreateParams): Books;
  /** Called after processing a request, before its response is sent. */
  beforeResponse(): Promise<void>;
}

/** A processed request: method, path and idempotency key. */
export interface ProcessedRequest {
  readonly line: string;
  readonly idempotencyKey: string | undefined;
}

/**
 * A simulated failure:
 * - `cut`: the request is processed, and the connection breaks during the response
 * - `garbled`: the request is processed, and the response is `{}`, as if from a proxy
 * - `dripping`: the request is processed, and the response arrives byte by byte without end
 * - `rateLimited`: 429 without processing
 * - `failed`: 500 without processing, repeated for the same idempotency key for a day
 * - `refused`: 400 without processing
 * - `held`: the request waits unprocessed until it is released
 */
export type Fault = "cut" | "garbled" | "dripping" | "rateLimited" | "failed" | "refused" | "held";

/** A failure planned for upcoming requests. */
export interface PendingFault {
  /** Resolves when the first request is affected. */
  readonly met: Promise<void>;
  /** Releases the held requests and stops holding new ones. */
  release(): void;
}

interface PlannedFault {
  readonly line: string;
  readonly fault: Fault;
  left: number;
  readonly meet: () => void;
  readonly released: Promise<void>;
}

/** A response stored for an idempotency key, even if it could not be sent. */
interface StoredResponse {
  readonly status: number;
  readonly body: object;
}

/** An account's request that has an idempotency key. */
interface KeyedRequest {
  readonly request: string;
  readonly startedSeconds: number;
  answer: StoredResponse | undefined;
}

/** A parsed request. */
interface ParsedRequest {
  readonly method: string;
  readonly path: string;
  /** The body's form parameters, or the query for reads. */
  readonly form: string;
  readonly idempotencyKey: string | undefined;
  readonly request: IncomingMessage;
}

/** Interval between the bytes of a dripping response, in milliseconds. */
const DRIP_MS = 10;
/** Retention of idempotency keys, in seconds: one day. */
const KEPT_SECONDS = 24 * 60 * 60;

/** Error responses for failures that prevent processing. */
const REFUSED_BY: Partial<Record<Fault, StripeRefusal>> = {
  rateLimited: invalidRequest("Request rate limit exceeded.", { code: "rate_limit", status: 429 }),
  refused: invalidRequest("This request is not allowed."),
  failed: new StripeRefusal(500, { type: "api_error", message: "An unknown error occurred." }),
};

/** Simulated Stripe HTTP server on a free loopback port. */
export class StripeServer {
  readonly processed: ProcessedRequest[] = [];

  readonly #directory: Directory;
  readonly #faults: PlannedFault[] = [];
  readonly #keyed = new Map<string, KeyedRequest>();
  #server: Server | undefined;
  #port = 0;

  constructor(directory: Directory) {
    this.#directory = directory;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts listening. The port stays the same after closing and reopening. */
  async open(): Promise<void> {
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Stops listening and closes open connections. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }

  /** Plans a failure for the next `times` requests whose method and path start with `line`. */
  fault(line: string, fault: Fault, times: number): PendingFault {
    const met = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const planned = { line, fault, left: times, meet: met.resolve, released: released.promise };
    this.#faults.push(planned);
    return {
      met: met.promise,
      release() {
        planned.left = 0;
        released.resolve();
      },
    };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const received = await receive(request);
    const line = `${received.method} ${received.path}`;
    const planned = this.#faults.find((one) => one.left > 0 && line.startsWith(one.line));
    if (planned !== undefined) {
      planned.left--;
      planned.meet();
    }
    const { status, body, isReplayed } = await this.#answer(received, planned);
    await this.#directory.beforeResponse();
    this.processed.push({ line, idempotencyKey: received.idempotencyKey });
    const text = planned?.fault === "garbled" ? "{}" : JSON.stringify(body);
    response.writeHead(status, {
      "content-type": "application/json",
      "request-id": newId("req"),
      ...(isReplayed && { "idempotent-replayed": "true" }),
    });
    if (planned?.fault === "dripping") {
      const dripping = setInterval(() => response.write(" "), DRIP_MS);
      response.once("close", () => clearInterval(dripping));
    } else if (planned?.fault === "cut") {
      response.write(text.slice(0, 10), () => request.socket.destroy());
    } else response.end(text);
  }

  /** Checks a request in the same order as Stripe, and processes it. */
  async #answer(
    received: ParsedRequest,
    planned: PlannedFault | undefined,
  ): Promise<StoredResponse & { readonly isReplayed?: boolean }> {
    try {
      const { stamp, connect } = this.#directory;
      const { key, own } = this.#authenticate(received.request);
      const account = (id: string) => this.#reach(key, own, id);
      const context = header(received.request, "stripe-context");
      const books = context === undefined ? own : account(context);
      const { route, id } = findRoute(received);
      const run = route.prepare({ books, id, stamp: stamp(), account, connect }, received.form);
      const stored = this.#begin(books, received);
      if (stored !== undefined) return { ...stored, isReplayed: true };
      if (planned?.fault === "held") await planned.released;
      const answer = carryOut(books, run, planned && REFUSED_BY[planned.fault]);
      this.#finish(books, received, answer);
      return answer;
    } catch (error) {
      return refusedBy(error);
    }
  }

  /** Returns the key of a request and the books of the key's account. */
  #authenticate(request: IncomingMessage): { key: string; own: Books } {
    const key = (header(request, "authorization") ?? "").replace(/^Bearer /, "");
    const own = this.#directory.accounts.get(this.#directory.keys.get(key) ?? "");
    if (own === undefined) throw unauthenticated(key);
    return { key, own };
  }

  /** Returns an account's books. @throws StripeRefusal unless it is the caller's or a connected account */
  #reach(key: string, own: Books, id: string): Books {
    const books = this.#directory.accounts.get(id);
    const isConnected = own === this.#directory.platform && books?.authorised;
    if (books === undefined || (books !== own && !isConnected)) throw noAccess(key, id);
    return books;
  }

  /**
   * Records a request by its idempotency key, or returns the stored response to an earlier one.
   *
   * @throws StripeRefusal if the key was used for a different request, or if the earlier request is still running
   */
  #begin({ account }: Books, { idempotencyKey, path, form }: ParsedRequest): StoredResponse | undefined {
    if (idempotencyKey === undefined) return undefined;
    const name = `${account.id} ${idempotencyKey}`;
    const request = `${path} ${form}`;
    const keyed = this.#keyed.get(name);
    const startedSeconds = this.#directory.stamp().created;
    if (keyed === undefined || startedSeconds - keyed.startedSeconds >= KEPT_SECONDS) {
      this.#keyed.set(name, { request, startedSeconds, answer: undefined });
      return undefined;
    }
    if (keyed.request !== request) {
      const message = `Keys for idempotent requests can only be used with the same parameters: ${idempotencyKey}`;
      throw new StripeRefusal(400, { type: "idempotency_error", message });
    }
    if (keyed.answer === undefined) {
      throw invalidRequest(`There is another request in progress under ${idempotencyKey}.`, {
        code: "idempotency_key_in_use",
        status: 409,
      });
    }
    return keyed.answer;
  }

  /** Stores a response for its idempotency key. Includes failures, but not rate limiting. */
  #finish({ account }: Books, { idempotencyKey }: ParsedRequest, answer: StoredResponse): void {
    const name = `${account.id} ${idempotencyKey}`;
    const keyed = this.#keyed.get(name);
    if (answer.status === 429) this.#keyed.delete(name);
    else if (keyed !== undefined) keyed.answer = answer;
  }
}

async function receive(request: IncomingMessage): Promise<ParsedRequest> {
  const body = Buffer.concat(await request.toArray()).toString();
  const { method = "", url = "" } = request;
  const { pathname: path, search } = new URL(url, "http://stripe");
  const changes = method === "POST";
  return {
    method,
    path,
    form: changes ? body : search.slice(1),
    idempotencyKey: changes ? header(request, "idempotency-key") : undefined,
    request,
  };
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function findRoute({ method, path }: ParsedRequest): { route: Route; id: string } {
  for (const route of ROUTES) {
    const match = route.method === method ? route.path.exec(path) : null;
    if (match !== null) return { route, id: match.groups?.["id"] ?? "" };
  }
  throw invalidRequest(`Unrecognized request URL (${method}: ${path}).`, { status: 404 });
}

function carryOut(books: Books, run: () => object, refusal?: StripeRefusal): StoredResponse {
  if (refusal !== undefined) return refusedBy(refusal);
  try {
    books.expireDue();
    return { status: 200, body: structuredClone(run()) };
  } catch (error) {
    return refusedBy(error);
  }
}

/** Converts a StripeRefusal to a response. @throws any other error */
function refusedBy(error: unknown): StoredResponse {
  if (!(error instanceof StripeRefusal)) throw error;
  return { status: error.status, body: { error: error.error } };
}
