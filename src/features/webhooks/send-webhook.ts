import { lookup as systemLookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { Agent, request } from "undici";
import {
  isWithin,
  literalAddress,
  reachOf,
  type Reach,
} from "../../domain/webhook/webhook-address.ts";

/** The addresses of a name, as the system's resolver gives them. */
export type ResolveName = (
  name: string,
) => Promise<readonly { readonly address: string; readonly family: number }[]>;

/** What came of sending: an answer, or the reason why there was none. */
export type Outcome = {
  readonly durationMs: number;
} & (
  | {
      readonly status: number;
      /** The first KiB of the body. */
      readonly answer: string;
      readonly retryAfter: string | undefined;
      readonly error?: undefined;
    }
  | { readonly error: string; readonly status?: undefined }
);

/** Sends a body to an address. Never rejects; whatever goes wrong is an outcome. */
export interface Sender {
  send(url: string, headers: Record<string, string>, body: string): Promise<Outcome>;
  close(): Promise<void>;
}

/** How long an attempt may take, from the look-up of the name to the end of the answer. */
const TIMEOUT_MS = 15_000;
/** How much of an answer is read, in bytes. */
const MAX_ANSWER_BYTES = 1_024;
/** Bounds on the connections to one address. */
const CONNECTIONS = {
  connections: 4,
  pipelining: 1,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 10_000,
  maxHeaderSize: 16 * 1024,
  allowH2: false,
} as const;

/** An address that nothing may be sent to. */
class OutOfReach extends Error {}

/**
 * Builds a sender that reaches public addresses only, and by http only this machine, and that only
 * if it is allowed. A name is resolved when it is connected to, and only what was found within
 * reach is connected to, so that a name cannot move in between. Redirects are answers like any
 * other.
 */
export function createSender(options: {
  readonly allowLoopbackHttp: boolean;
  readonly resolve?: ResolveName | undefined;
  readonly timeoutMs?: number | undefined;
}): Sender {
  const { allowLoopbackHttp, timeoutMs = TIMEOUT_MS } = options;
  const resolve = options.resolve ?? ((name) => systemLookup(name, { all: true }));
  const agents: Record<Reach, Agent> = {
    public: agentWithin("public", resolve, timeoutMs),
    loopback: agentWithin("loopback", resolve, timeoutMs),
  };

  return {
    async send(text, headers, body) {
      const startedMs = performance.now();
      const durationMs = () => Math.round(performance.now() - startedMs);
      try {
        const url = new URL(text);
        const reach = reachOf(url, allowLoopbackHttp);
        if (reach === undefined) throw new OutOfReach();
        refuseLiteral(url, reach);
        const response = await request(url, {
          method: "POST",
          headers,
          body,
          dispatcher: agents[reach],
          signal: AbortSignal.timeout(timeoutMs),
        });
        const answer = await beginningOf(response.body);
        const retryAfter = [response.headers["retry-after"]].flat()[0];
        return { status: response.statusCode, answer, retryAfter, durationMs: durationMs() };
      } catch (error) {
        return { error: describe(error), durationMs: durationMs() };
      }
    },
    async close() {
      await Promise.all(Object.values(agents).map((agent) => agent.destroy()));
    },
  };
}

function agentWithin(reach: Reach, resolve: ResolveName, timeoutMs: number): Agent {
  const lookup: LookupFunction = async (name, { all }, callback) => {
    let within: Awaited<ReturnType<ResolveName>>;
    try {
      within = (await resolve(name)).filter(({ address }) => isWithin(reach, address));
    } catch (error) {
      return callback(error as NodeJS.ErrnoException, []);
    }
    const [first] = within;
    if (first === undefined) callback(new OutOfReach(), []);
    else if (all) callback(null, [...within]);
    else callback(null, first.address, first.family);
  };
  return new Agent({
    ...CONNECTIONS,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { lookup, timeout: timeoutMs },
  });
}

/** A host that is an IP address by itself is connected to without a look-up. */
function refuseLiteral(url: URL, reach: Reach): void {
  const literal = literalAddress(url);
  if (literal !== undefined && !isWithin(reach, literal)) throw new OutOfReach();
}

/** The beginning of a body; what fails after the status has come takes nothing from the status. */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_ANSWER_BYTES) break;
    }
  } catch {
    // The receiver broke off; what it said until then is kept.
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString("utf8");
  return text.replaceAll("\0", "\uFFFD");
}

/** Says for people why there was no answer, and nothing about where this service runs. */
function describe(error: unknown): string {
  const errors = error instanceof AggregateError ? [error, ...error.errors] : [error];
  const causes = errors.flatMap((it: unknown) => [it, (it as { cause?: unknown })?.cause]);
  if (causes.some((it) => it instanceof OutOfReach)) return "The address is not a public one.";
  if (causes.some((it) => it instanceof Error && it.name === "TimeoutError")) {
    return "There was no answer in time.";
  }
  const code = causes
    .map((it) => (it as { code?: unknown })?.code)
    .find((it) => typeof it === "string");
  return REASONS[code ?? ""] ?? `The request failed (${code ?? "unknown"}).`;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: "The name could not be resolved.",
  EAI_AGAIN: "The name could not be resolved.",
  ECONNREFUSED: "The connection was refused.",
  ECONNRESET: "The connection was reset.",
  UND_ERR_SOCKET: "The connection was reset.",
  UND_ERR_CONNECT_TIMEOUT: "There was no answer in time.",
  UND_ERR_HEADERS_TIMEOUT: "There was no answer in time.",
};
