import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Stripe } from "stripe";
import type { Books } from "./books.ts";
import { invalidRequest, noAccess, StripeRefusal, unauthenticated } from "./errors.ts";
import { newId, type Stamp } from "./objects.ts";
import { ROUTES, type Route } from "./routes.ts";

/** What requests find. */
export interface Directory {
  stamp(): Stamp;
  /** The account of each key. */
  readonly keys: ReadonlyMap<string, string>;
  /** All accounts by their ids, the platform's among them. */
  readonly accounts: ReadonlyMap<string, Books>;
  readonly platform: Books;
  connect(params: Stripe.AccountCreateParams): Books;
  /** Is waited for once a request is done, and before it is answered. */
  beforeAnswer(): Promise<void>;
}

/** A request that was taken: method and path, and the key under which it may be repeated. */
export interface Taken {
  readonly line: string;
  readonly idempotencyKey: string | undefined;
}

/**
 * What goes wrong with a request:
 * - `cut`: Stripe has done it, and the connection breaks amid the answer;
 * - `garbled`: Stripe has done it, and `{}` comes instead of the answer, as by something in between;
 * - `dripping`: the same, of which a byte comes now and then, without end;
 * - `rateLimited`: 429, nothing is done;
 * - `failed`: 500, nothing is done, and a key gives the same again for a day;
 * - `held`: it waits, begun but not done, until it is released.
 */
export type Fault = "cut" | "garbled" | "dripping" | "rateLimited" | "failed" | "held";

/** A fault that requests are still to meet. */
export interface PendingFault {
  /** Resolves when a request has met it. */
  readonly met: Promise<void>;
  /** Lets the requests that are held, and those that would be, go on. */
  release(): void;
}

interface Planned {
  readonly line: string;
  readonly fault: Fault;
  left: number;
  readonly meet: () => void;
  readonly released: Promise<void>;
}

/** An answer as it went out, or would have. */
interface StoredAnswer {
  readonly status: number;
  readonly body: object;
}

/** A request under an idempotency key, of one account. */
interface Keyed {
  readonly request: string;
  readonly startedSeconds: number;
  answer: StoredAnswer | undefined;
}

/** A request, read. */
interface Received {
  readonly method: string;
  readonly path: string;
  /** The form in its body, or for what changes nothing the query. */
  readonly form: string;
  readonly idempotencyKey: string | undefined;
  readonly request: IncomingMessage;
}

/** How often a byte of an answer comes that never ends, in milliseconds. */
const DRIP_MS = 10;
/** Stripe forgets keys after a day. */
const KEPT_SECONDS = 24 * 60 * 60;

/** What a fault has Stripe answer instead of doing anything. */
const REFUSED_BY: Partial<Record<Fault, StripeRefusal>> = {
  rateLimited: invalidRequest("Request rate limit exceeded.", { code: "rate_limit", status: 429 }),
  failed: new StripeRefusal(500, { type: "api_error", message: "An unknown error occurred." }),
};

/** Stripe's door, on a free port of the loopback address. */
export class StripeServer {
  readonly taken: Taken[] = [];

  readonly #directory: Directory;
  readonly #faults: Planned[] = [];
  readonly #keyed = new Map<string, Keyed>();
  #server: Server | undefined;
  #port = 0;

  constructor(directory: Directory) {
    this.#directory = directory;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, at the same port each time. */
  async open(): Promise<void> {
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Refuses connections, and breaks those that are open. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }

  /** Plans what the next requests meet whose method and path begin so. */
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
    await this.#directory.beforeAnswer();
    this.taken.push({ line, idempotencyKey: received.idempotencyKey });
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

  /** Checks a request in Stripe's order, and carries it out. */
  async #answer(
    received: Received,
    planned: Planned | undefined,
  ): Promise<StoredAnswer & { readonly isReplayed?: boolean }> {
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

  /** The key of a request, which comes as a bearer token, and the books that it is of. */
  #authenticate(request: IncomingMessage): { key: string; own: Books } {
    const key = (header(request, "authorization") ?? "").replace(/^Bearer /, "");
    const own = this.#directory.accounts.get(this.#directory.keys.get(key) ?? "");
    if (own === undefined) throw unauthenticated(key);
    return { key, own };
  }

  /** @throws StripeRefusal unless the account is the caller's own or connected with it */
  #reach(key: string, own: Books, id: string): Books {
    const books = this.#directory.accounts.get(id);
    const isConnected = own === this.#directory.platform && books?.authorised;
    if (books === undefined || (books !== own && !isConnected)) throw noAccess(key, id);
    return books;
  }

  /**
   * Starts a request under its idempotency key, or gives the answer that it has had.
   *
   * @throws StripeRefusal when the key belongs to another request, or its first is still running
   */
  #begin({ account }: Books, { idempotencyKey, path, form }: Received): StoredAnswer | undefined {
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

  /** Keeps an answer, failures too; but of a request that came too often, nothing. */
  #finish({ account }: Books, { idempotencyKey }: Received, answer: StoredAnswer): void {
    const name = `${account.id} ${idempotencyKey}`;
    const keyed = this.#keyed.get(name);
    if (answer.status === 429) this.#keyed.delete(name);
    else if (keyed !== undefined) keyed.answer = answer;
  }
}

async function receive(request: IncomingMessage): Promise<Received> {
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

function findRoute({ method, path }: Received): { route: Route; id: string } {
  for (const route of ROUTES) {
    const match = route.method === method ? route.path.exec(path) : null;
    if (match !== null) return { route, id: match.groups?.["id"] ?? "" };
  }
  throw invalidRequest(`Unrecognized request URL (${method}: ${path}).`, { status: 404 });
}

function carryOut(books: Books, run: () => object, refusal?: StripeRefusal): StoredAnswer {
  if (refusal !== undefined) return refusedBy(refusal);
  try {
    books.settleDue();
    return { status: 200, body: structuredClone(run()) };
  } catch (error) {
    return refusedBy(error);
  }
}

/** @throws the error, unless it is one of Stripe's */
function refusedBy(error: unknown): StoredAnswer {
  if (!(error instanceof StripeRefusal)) throw error;
  return { status: error.status, body: { error: error.error } };
}
