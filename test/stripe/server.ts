import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Stripe } from "stripe";
import type { Books } from "./books.ts";
import {
  errorBody,
  invalidRequest,
  noAccess,
  noPermission,
  StripeRefusal,
  unauthenticated,
} from "./errors.ts";
import { expand } from "./expand.ts";
import { Faults } from "./faults.ts";
import { decodeForm } from "./form.ts";
import { IdempotencyKeys, type StoredAnswer } from "./idempotency.ts";
import { newId } from "./objects.ts";
import { ROUTES, type Call, type Route } from "./routes.ts";

/** A key, and for a restricted one what it may do. */
export interface ApiKey {
  readonly account: string;
  readonly permissions?: readonly string[];
}

/** What requests find. */
export interface Directory {
  now(): number;
  readonly keys: ReadonlyMap<string, ApiKey>;
  /** All accounts by their ids, the platform's among them. */
  readonly accounts: ReadonlyMap<string, Books>;
  readonly platform: Books;
  connect(params: Stripe.AccountCreateParams): Books;
  /** Is waited for once a request is done, and before it is answered. */
  beforeAnswer(): Promise<void>;
}

/** A request that was taken. */
export interface Taken {
  /** Method and path. */
  readonly line: string;
  /** That it acted for, where that was not the key's own. */
  readonly account: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly version: string | undefined;
  /** 0 when it was not reached. */
  readonly status: number;
}

/** A request, read. */
interface Received {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** The form in its body, or for what changes nothing the query. */
  readonly form: string;
  readonly request: IncomingMessage;
}

/** Stripe's door, on a free port of the loopback address. */
export class StripeServer {
  readonly faults = new Faults();
  readonly taken: Taken[] = [];

  readonly #directory: Directory;
  readonly #keys = new Map<Books, IdempotencyKeys>();
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

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const received = await receive(request);
    const planned = this.faults.take(`${received.method} ${received.path}`);
    if (planned?.fault === "unreached") {
      this.#note(received, 0);
      request.socket.destroy();
      return;
    }
    const answer = await this.#answer(received, async () => {
      if (planned?.fault === "rateLimited") throw RATE_LIMITED;
      if (planned?.fault === "failed") throw unexpected("it was asked for");
      if (planned?.fault === "held") await planned.released;
    });
    await this.#directory.beforeAnswer();
    this.#note(received, answer.status);
    if (planned?.fault === "lost") {
      request.socket.destroy();
      return;
    }
    const body = planned?.fault === "garbled" ? "{}" : JSON.stringify(answer.body, null, 2);
    const isReplayed = answer.requestId !== received.id;
    response.writeHead(answer.status, {
      "content-type": "application/json",
      ...(planned?.fault === "dripping" ? {} : { "content-length": Buffer.byteLength(body) }),
      "request-id": received.id,
      ...(isReplayed
        ? { "idempotent-replayed": "true", "original-request": answer.requestId }
        : {}),
      ...echoed(request, "stripe-version", "stripe-account", "idempotency-key"),
    });
    if (planned?.fault === "dripping") {
      const dripping = setInterval(() => response.write(" "), DRIP_MS);
      response.once("close", () => clearInterval(dripping));
      return;
    }
    if (planned?.fault === "cut") {
      response.write(body.slice(0, 10), () => request.socket.destroy());
      return;
    }
    response.end(body);
  }

  /**
   * Checks a request in Stripe's order, and carries it out.
   *
   * @param meetFault is waited for once the request has begun, before it is carried out
   */
  async #answer(received: Received, meetFault: () => Promise<void>): Promise<StoredAnswer> {
    let account = this.#directory.platform.account.id;
    try {
      const { key, books } = this.#authenticate(received.request);
      account = books.account.id;
      const { route, id } = find(received);
      this.#allow(key, route, account);
      const sent = decodeForm(received.form);
      const run = route.prepare(this.#callOf(key, books, id), sent);
      const keys = this.#keysOf(books);
      const idempotencyKey = idempotencyKeyOf(received);
      const begun = idempotencyKey && keys.begin(idempotencyKey, received, this.#directory.now());
      if (begun) return begun;
      const answer = await meetFault().then(
        () => this.#carryOut(books, received, () => expand(books, run(), sent["expand"])),
        (error: unknown) => refusedBy(error, account, received.id),
      );
      if (idempotencyKey !== undefined) keys.finish(idempotencyKey, answer);
      return answer;
    } catch (error) {
      return refusedBy(error, account, received.id);
    }
  }

  /** Does what was asked, whose events tell this request as their cause. */
  #carryOut(books: Books, received: Received, run: () => object): StoredAnswer {
    books.settleDue();
    books.cause = { id: received.id, idempotency_key: idempotencyKeyOf(received) ?? null };
    try {
      return { status: 200, body: run(), requestId: received.id };
    } catch (error) {
      return refusedBy(error, books.account.id, received.id);
    } finally {
      books.cause = { id: null, idempotency_key: null };
    }
  }

  /** The key of a request, and the books of the account that it is for. */
  #authenticate(request: IncomingMessage): { key: string; books: Books } {
    const key = credentialOf(request);
    const found = this.#directory.keys.get(key ?? "");
    if (key === undefined || found === undefined) throw unauthenticated(key);
    const own = this.#directory.accounts.get(found.account)!;
    const context = contextOf(request);
    return { key, books: context === undefined ? own : this.#reach(key, own, context) };
  }

  /** @throws StripeRefusal unless the account is the caller's own or connected with it */
  #reach(key: string, own: Books, id: string): Books {
    if (id === own.account.id) return own;
    const books = this.#directory.accounts.get(id);
    const isConnected = own === this.#directory.platform && books?.authorised;
    if (books === undefined || !isConnected) throw noAccess(key, id);
    return books;
  }

  #allow(key: string, { permission }: Route, account: string): void {
    const permissions = this.#directory.keys.get(key)?.permissions;
    // Whoever may write may read.
    const enough = [permission, permission.replace(/_read$/, "_write")];
    if (permissions !== undefined && !enough.some((one) => permissions.includes(one))) {
      throw noPermission(key, account, permission);
    }
  }

  #callOf(key: string, books: Books, id: string): Call {
    return {
      books,
      id,
      account: (other) => this.#reach(key, books, other),
      connect: (params) => this.#directory.connect(params),
    };
  }

  #keysOf(books: Books): IdempotencyKeys {
    const keys = this.#keys.get(books) ?? new IdempotencyKeys();
    this.#keys.set(books, keys);
    return keys;
  }

  #note(received: Received, status: number): void {
    this.taken.push({
      line: `${received.method} ${received.path}`,
      account: contextOf(received.request),
      idempotencyKey: header(received.request, "idempotency-key"),
      version: header(received.request, "stripe-version"),
      status,
    });
  }
}

/** How often a byte of an answer comes that never ends, in milliseconds. */
const DRIP_MS = 10;

const RATE_LIMITED = invalidRequest(
  "Request rate limit exceeded. You can learn more about rate limits here " +
    "https://stripe.com/docs/rate-limits.",
  { code: "rate_limit", status: 429 },
);

async function receive(request: IncomingMessage): Promise<Received> {
  const body = Buffer.concat(await request.toArray()).toString();
  const { method = "", url = "" } = request;
  const { pathname, search } = new URL(url, "http://stripe");
  const form = method === "GET" ? search.slice(1) : body;
  return { id: newId("req"), method, path: pathname, form, request };
}

function find({ method, path }: Received): { route: Route; id: string } {
  for (const route of ROUTES) {
    const match = route.method === method ? route.path.exec(path) : null;
    if (match !== null) return { route, id: decodeURIComponent(match.groups?.["id"] ?? "") };
  }
  throw invalidRequest(
    `Unrecognized request URL (${method}: ${path}). Please see https://stripe.com/docs or we can ` +
      "help at https://support.stripe.com/.",
    { status: 404 },
  );
}

function refusedBy(error: unknown, account: string, requestId: string): StoredAnswer {
  const { status, details } = error instanceof StripeRefusal ? error : unexpected(error);
  return { status, body: errorBody(details, account, requestId), requestId };
}

function unexpected(cause: unknown): StripeRefusal {
  const message = `An unknown error occurred: ${String(cause)}`;
  return new StripeRefusal(500, { type: "api_error", message });
}

/** What changes nothing needs no key. */
function idempotencyKeyOf({ method, request }: Received): string | undefined {
  return method === "POST" ? header(request, "idempotency-key") : undefined;
}

/** The account that a request acts for, where it is not the key's own. */
function contextOf(request: IncomingMessage): string | undefined {
  return header(request, "stripe-context") ?? header(request, "stripe-account");
}

/** A key comes as a bearer token, or as the name in basic authentication. */
function credentialOf(request: IncomingMessage): string | undefined {
  const [scheme = "", value = ""] = (header(request, "authorization") ?? "").split(" ");
  const key = /^basic$/i.test(scheme)
    ? Buffer.from(value, "base64").toString().split(":")[0]
    : value;
  return key || undefined;
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function echoed(request: IncomingMessage, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = header(request, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
