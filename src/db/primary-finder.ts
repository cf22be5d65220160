import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { connectionError, noPrimaryError } from "./connection-error.ts";
import { parseDatabaseUrl, type ServerTarget } from "./database-url.ts";
import { newestPrimary, readIdentity, type Candidate, type ServerIdentity } from "./newest-primary.ts";
import { assertTarget } from "./server-status.ts";

/** Timeout for probing a server, including the connection, in milliseconds. */
const PROBE_MS = 1_000;
/** Time for which a failed search is cached, in milliseconds. */
const FAILURE_MS = 100;

interface PrimaryServer {
  readonly url: string;
  /** Host that pg reads from the URL and the environment. The same applies to the port. */
  readonly host: string;
  readonly port: number;
}

/** Finds the writable server among several, for all connections of this process. */
export type PrimaryFinder = ReturnType<typeof createFinder>;

const finders = new Map<string, PrimaryFinder>();

/** Returns the primary finder for a URL, or `undefined` if the URL names a single server. */
export function primaryFinder(databaseUrl: string): PrimaryFinder | undefined {
  const { urls, target } = parseDatabaseUrl(databaseUrl);
  if (target === undefined) return undefined;
  const finder = finders.get(databaseUrl) ?? createFinder(urls, target);
  finders.set(databaseUrl, finder);
  return finder;
}

function createFinder(urls: readonly string[], target: ServerTarget) {
  const clients = new Map<pg.Client, string>();
  let known: PrimaryServer | undefined;
  let last: ProbedServer | undefined;
  let finding: Promise<PrimaryServer> | undefined;

  async function findNow(): Promise<PrimaryServer> {
    const order = last === undefined ? urls : [...new Set([last.url, ...urls])];
    const found = await findPrimary(order, target, last?.identity);
    for (const [client, url] of clients) if (url !== found.url) client.connection.stream.destroy();
    return (known = last = found);
  }

  function findOnce(): Promise<PrimaryServer> {
    const finds = findNow();
    const clear = () => {
      finding = undefined;
    };
    // Without this delay each call would connect to every server while there is no primary.
    finds.then(clear, () => sleep(FAILURE_MS, undefined, { ref: false }).then(clear));
    return (finding = finds);
  }

  return {
    target,
    /** URL of the first server, for settings that all servers share. */
    firstUrl: urls[0]!,
    /**
     * Returns the known writable server. After that server was reported lost, returns the newest one that
     * responds (see `newestPrimary`). If a server has several addresses, prefers the last used one, then
     * the first. All servers are queried in parallel, once for all callers. A failure is cached for 0.1
     * s. Settles within about a second. Closes connections to the previous server if it changed.
     *
     * @throws ConnectionError if no server is writable or the primary cannot be determined
     */
    find: async () => known ?? finding ?? findOnce(),
    /** Registers a connection, which is closed if the primary changes before the connection ends. */
    add(client: pg.Client, url: string): void {
      clients.set(client, url);
      client.once("end", () => clients.delete(client));
    },
    /** Reports that a connection was lost or that the server is read-only. */
    lost(url: string | undefined): void {
      if (known?.url === url) known = undefined;
    },
  };
}

/** Finds the newest writable server. Waits for all servers, because the newest may respond last. */
async function findPrimary(
  urls: readonly string[],
  target: ServerTarget,
  used: ServerIdentity | undefined,
): Promise<ProbedServer> {
  const failures = new Map<string, unknown>();
  const probes = urls.map((url) => probe(url, target).catch((error: unknown) => void failures.set(url, error)));
  const found = (await Promise.all(probes)).filter((it) => it !== undefined);
  if (found.length === 0) {
    throw noPrimaryError(urls.map((url) => ({ url, error: failures.get(url) })));
  }
  try {
    return newestPrimary(found, used);
  } catch (error) {
    throw connectionError(error, urls[0]!);
  }
}

type ProbedServer = PrimaryServer & Candidate;

/** Connects to a server and disconnects. Rejects if the server does not meet the requirement in time. */
async function probe(url: string, target: ServerTarget): Promise<ProbedServer> {
  const client = new pg.Client({ connectionString: url, application_name: "shipments primary" });
  client.on("error", () => undefined);
  // A single timeout covers the connection and both queries. Its message equals pg's, which `connectionError`
  // recognizes.
  const timer = setTimeout(() => client.connection.stream.destroy(new Error("timeout expired")), PROBE_MS);
  try {
    await client.connect();
    await assertTarget(client, target, url);
    const identity = await readIdentity(client);
    return { url, host: client.host, port: client.port, identity };
  } finally {
    clearTimeout(timer);
    client.end().catch(() => undefined);
  }
}
