import { lookup as systemLookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import type { Agent } from "undici";
import { loadOnce } from "../../domain/load-once.ts";
import { isWithin, literalAddress, reachOf, type Reach } from "../../domain/webhook/webhook-address.ts";

/** Resolves a host name to its addresses. `family` is 4 or 6. */
export type ResolveName = (name: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

/** Result of an attempt: a response, or the reason why there is none. */
export interface SendResult {
  readonly durationMs: number;
  readonly status?: number;
  /** First KiB of the response body. */
  readonly answer?: string;
  readonly retryAfter?: string | undefined;
  readonly error?: string;
}

/** Whether the receiver accepted the message. */
export function isSuccess({ status }: SendResult): boolean {
  return status !== undefined && status >= 200 && status <= 299;
}

/** Sends webhooks. `send` never rejects, but returns errors in its result. */
export interface Sender {
  send(url: string, headers: Record<string, string>, body: string): Promise<SendResult>;
  close(): Promise<void>;
}

/** Maximum duration of an attempt in milliseconds, from the name resolution to the end of the response. */
const TIMEOUT_MS = 15_000;
const MAX_BODY_BYTES = 1_024;
/**
 * Connection settings per origin. The number of connections is unlimited, because each webhook limits its own attempts,
 * and webhooks of the same origin must not wait for each other.
 */
const CONNECTIONS = {
  connections: null,
  pipelining: 1,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 10_000,
  maxHeaderSize: 16 * 1024,
  allowH2: false,
} as const;

class OutOfReachError extends Error {}

/**
 * Creates a sender that connects only to public addresses by https and, if allowed, to this machine by http. Each
 * connection resolves the name once, checks the addresses and connects to them, so a changed DNS record cannot bypass
 * the check. Does not follow redirects.
 *
 * @param options.timeoutMs timeout of one attempt. Defaults to 15 seconds
 */
export function createSender(options: {
  readonly allowLoopbackHttp: boolean;
  readonly resolve?: ResolveName | undefined;
  readonly timeoutMs?: number | undefined;
}): Sender {
  const { allowLoopbackHttp, timeoutMs = TIMEOUT_MS } = options;
  const resolve = options.resolve ?? ((name) => systemLookup(name, { all: true }));
  const client = loadOnce(() => loadClient(resolve, timeoutMs));

  return {
    async send(text, headers, body) {
      const startedMs = performance.now();
      const durationMs = () => Math.round(performance.now() - startedMs);
      try {
        const url = new URL(text);
        const reach = reachOf(url, allowLoopbackHttp);
        if (reach === undefined) throw new OutOfReachError();
        assertLiteralWithin(url, reach);
        const { request, agents } = await client.get();
        const response = await request(url, {
          method: "POST",
          headers,
          body,
          dispatcher: agents[reach],
          signal: AbortSignal.timeout(timeoutMs),
        });
        const answer = await readStart(response.body);
        const retryAfter = [response.headers["retry-after"]].flat()[0];
        return { status: response.statusCode, answer, retryAfter, durationMs: durationMs() };
      } catch (error) {
        return { error: describe(error), durationMs: durationMs() };
      }
    },
    async close() {
      const agents = Object.values((await client.peek())?.agents ?? {});
      await Promise.all(agents.map((agent) => agent.destroy()));
    },
  };
}

/** Loads the HTTP client on first use, because it takes several MiB of memory. */
async function loadClient(resolve: ResolveName, timeoutMs: number) {
  const { Agent, request } = await import("undici");
  const agentWithin = (reach: Reach) => new Agent(agentOptions(reach, resolve, timeoutMs));
  return { request, agents: { public: agentWithin("public"), loopback: agentWithin("loopback") } };
}

function agentOptions(reach: Reach, resolve: ResolveName, timeoutMs: number): Agent.Options {
  const lookup: LookupFunction = async (name, { all }, callback) => {
    let within: Awaited<ReturnType<ResolveName>>;
    try {
      within = (await resolve(name)).filter(({ address }) => isWithin(reach, address));
    } catch (error) {
      return callback(error as NodeJS.ErrnoException, []);
    }
    const [first] = within;
    if (first === undefined) callback(new OutOfReachError(), []);
    else if (all) callback(null, [...within]);
    else callback(null, first.address, first.family);
  };
  return {
    ...CONNECTIONS,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { lookup, timeout: timeoutMs },
  };
}

/** Checks a URL whose host is an IP address. Other addresses are checked when their name is resolved. */
function assertLiteralWithin(url: URL, reach: Reach): void {
  const literal = literalAddress(url);
  if (literal !== undefined && !isWithin(reach, literal)) throw new OutOfReachError();
}

/** Reads the first KiB of a body. On an error, returns the text read so far. */
async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_BODY_BYTES) break;
    }
  } catch {
    // Ignored, because the status has arrived and determines the result.
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString("utf8");
  return text.replaceAll("\0", "\uFFFD");
}

/** Returns the reason for a missing response. Does not reveal details of the service's network. */
function describe(error: unknown): string {
  const errors = error instanceof AggregateError ? [error, ...error.errors] : [error];
  const causes = errors.flatMap((cause: unknown) => [cause, (cause as { cause?: unknown })?.cause]);
  if (causes.some((cause) => cause instanceof OutOfReachError)) return "The address is not public.";
  if (causes.some((cause) => cause instanceof Error && cause.name === "TimeoutError")) {
    return "The receiver did not respond in time.";
  }
  const code = causes.map((cause) => (cause as { code?: unknown })?.code).find((found) => typeof found === "string");
  return REASONS[code ?? ""] ?? `The request failed (${code ?? "unknown"}).`;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: "The name could not be resolved.",
  EAI_AGAIN: "The name could not be resolved.",
  ECONNREFUSED: "The connection was refused.",
  ECONNRESET: "The connection was reset.",
  UND_ERR_SOCKET: "The connection was reset.",
  UND_ERR_CONNECT_TIMEOUT: "The receiver did not respond in time.",
  UND_ERR_HEADERS_TIMEOUT: "The receiver did not respond in time.",
};
