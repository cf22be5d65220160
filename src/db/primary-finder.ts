import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { connectionFault, noPrimaryFault } from "./connection-fault.ts";
import { parseDatabaseUrl, type ServerTarget } from "./database-url.ts";
import {
  newestPrimary,
  readIdentity,
  type Candidate,
  type ServerIdentity,
} from "./newest-primary.ts";
import { assertTarget, watchStatus } from "./server-status.ts";

/** How long a server may take to say what it is, connecting included, in milliseconds. */
const PROBE_MS = 1_000;
/** For how long a failed search counts for those who ask next, in milliseconds. */
const FAILURE_MS = 100;

export interface PrimaryServer {
  readonly url: string;
  /** As pg reads them from the address and the environment. */
  readonly host: string;
  readonly port: number;
}

/** Knows which of several servers takes writes, for all connections of this process. */
export interface PrimaryFinder {
  readonly target: ServerTarget;
  /** The address of the first server, for what all have in common. */
  readonly firstUrl: string;
  /**
   * The server that takes writes: the one known to, or, when that was reported lost, the newest that
   * says so now (see `newestPrimary`); of several addresses of it, the one known last, else the first.
   * All are asked at once, and once for all callers, also for those of the next 0.1 s after a failure.
   * Settles within about a second. When it is another one than before, connections to that are closed.
   *
   * @throws ConnectionFault when none does, or nothing tells which of several is the primary
   */
  find(): Promise<PrimaryServer>;
  /** Takes note of a connection, until it ends, so that it is closed when the primary changes. */
  add(client: pg.Client, url: string): void;
  /** Reports that a connection was lost, or the server takes no writes. */
  lost(url: string | undefined): void;
}

const finders = new Map<string, PrimaryFinder>();

/** The finder of an address; undefined for that of a single server which is taken as it is. */
export function primaryFinder(databaseUrl: string): PrimaryFinder | undefined {
  const { urls, target } = parseDatabaseUrl(databaseUrl);
  if (target === undefined) return undefined;
  const finder = finders.get(databaseUrl) ?? createFinder(urls, target);
  finders.set(databaseUrl, finder);
  return finder;
}

function createFinder(urls: readonly string[], target: ServerTarget): PrimaryFinder {
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
    // Else each call, while there is no primary, would connect to every server.
    finds.then(clear, () => sleep(FAILURE_MS, undefined, { ref: false }).then(clear));
    return (finding = finds);
  }

  return {
    target,
    firstUrl: urls[0]!,
    find: async () => known ?? finding ?? findOnce(),
    add(client, url) {
      clients.set(client, url);
      client.once("end", () => clients.delete(client));
    },
    lost(url) {
      if (known?.url === url) known = undefined;
    },
  };
}

/** Waits for all, since the newest may be the last to answer. */
async function findPrimary(
  urls: readonly string[],
  target: ServerTarget,
  used: ServerIdentity | undefined,
): Promise<ProbedServer> {
  const failures = new Map<string, unknown>();
  const probes = urls.map((url) =>
    probe(url, target).catch((error: unknown) => void failures.set(url, error)),
  );
  const found = (await Promise.all(probes)).filter((it) => it !== undefined);
  if (found.length === 0) {
    throw noPrimaryFault(urls.map((url) => ({ url, error: failures.get(url) })));
  }
  try {
    return newestPrimary(found, used);
  } catch (error) {
    throw connectionFault(error, urls[0]!);
  }
}

type ProbedServer = PrimaryServer & Candidate;

/** Connects to a server and leaves it; rejects unless it is as wanted, and says so in time. */
async function probe(url: string, target: ServerTarget): Promise<ProbedServer> {
  const client = new pg.Client({ connectionString: url, application_name: "shipments primary" });
  client.on("error", () => undefined);
  const status = watchStatus(client);
  // For all together: through a pooler, connecting is followed by two queries. The words are pg's.
  const timer = setTimeout(
    () => client.connection.stream.destroy(new Error("timeout expired")),
    PROBE_MS,
  );
  try {
    await client.connect();
    await assertTarget(client, status, target, url);
    const identity = await readIdentity(client);
    return { url, host: client.host, port: client.port, identity };
  } finally {
    clearTimeout(timer);
    client.end().catch(() => undefined);
  }
}
