/** Sides that contests compare: the product and its alternatives. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "./database.ts";
import { startProduct, startProgram, startWorker } from "./processes.ts";
import type { Ports, ServerProcess } from "./processes.ts";
import { SQL } from "./servers/booking-sql.ts";
import { SETTINGS } from "./settings.ts";

/** One of the servers that a contest compares. */
export interface Side {
  readonly name: string;
  /** Whether the contest checks that the side does the same work as the first side. */
  readonly isPeer: boolean;
  /** Number of shipments in the side's database before any load. */
  readonly shipments: number;
  /** Clone whose product creates the database, by default this repository. */
  readonly repository?: string | undefined;
  /** Database servers. See `Contents`. */
  readonly nodes?: readonly string[] | undefined;
  /** Starts the side's server, or several that share the load. */
  readonly start: (owned: AsyncDisposableStack, database: Database) => Promise<ServerProcess[]>;
}

/** Number of shipments. High enough that each request of a round uses a different one. */
const SHIPMENTS = Math.min(1_000_000, 10_000 + 12_000 * SETTINGS.seconds);

/** Returns this version of the product, or another clone's, with a number of processes. */
export function ours(
  name: string,
  {
    shipments = SHIPMENTS,
    replicas = 1,
    environment = {},
    repository,
    nodes,
  }: {
    readonly shipments?: number;
    readonly replicas?: number;
    readonly environment?: Readonly<Record<string, string>>;
    readonly repository?: string | undefined;
    readonly nodes?: readonly string[];
  } = {},
): Side {
  return {
    name,
    isPeer: false,
    shipments,
    repository,
    nodes,
    async start(owned, { url }) {
      const processes: ServerProcess[] = [];
      while (processes.length < replicas) {
        processes.push(await startProduct(owned, { DATABASE_URL: url, ...environment }, repository));
      }
      return processes;
    },
  };
}

/** Returns a peer whose script is in `servers/`. */
export function peer(name: string, script: string, extra: Readonly<Record<string, string>> = {}): Side {
  return {
    name,
    isPeer: true,
    shipments: SHIPMENTS,
    async start(owned, database) {
      const environment = { ...environmentOf(database), ...extra };
      const { pid, hello } = await startWorker(owned, `servers/${script}`, environment);
      return [{ pid, ports: hello as Ports }];
    },
  };
}

const environmentOf = ({ url, accounts }: Database) => ({
  DATABASE_URL: url,
  ACCOUNTS: JSON.stringify(accounts),
});

/** Folder in which Debian installs Go packages, for builds without modules. */
const GO_PATH = "/usr/share/gocode";
const GO_ENVIRONMENT = { GO111MODULE: "off", GOPATH: GO_PATH };
/** Number of processors of the reference machine. */
const GO_PROCESSORS = "2";

/** The peer written in Go. It is built when it starts. */
const IN_GO: Side = {
  name: "Go, net/http and pgx",
  isPeer: true,
  shipments: SHIPMENTS,
  async start(owned, database) {
    const folder = await mkdtemp(join(tmpdir(), "shipments-bench-go-"));
    owned.defer(() => rm(folder, { recursive: true, force: true }));
    const program = join(folder, "peer");
    execFileSync("go", ["build", "-o", program, "."], {
      cwd: join(import.meta.dirname, "servers/go"),
      env: { ...process.env, ...GO_ENVIRONMENT },
    });
    const environment = { ...environmentOf(database), SQL: JSON.stringify(SQL) };
    return [await startProgram(owned, program, { ...environment, GOMAXPROCS: GO_PROCESSORS })];
  },
};

/** The Go peer. Empty without Go and its package pgx (Debian's golang-go, golang-github-jackc-pgx-v4-dev). */
export const GO: readonly Side[] =
  existsSync(join(GO_PATH, "src/github.com/jackc/pgx/v4")) && spawnSync("go", ["version"]).status === 0 ? [IN_GO] : [];

export const OURS = ours("ours");
export const FASTIFY = peer("Fastify and pg, SQL by hand", "fastify.ts");
/** Fastify with request log, request id, rate limit and metrics. */
export const FASTIFY_DEPLOYED = peer("Fastify and pg, as deployed", "fastify.ts", { DEPLOYED: "1" });
export const GRPC_JS = peer("@grpc/grpc-js and pg, SQL by hand", "grpc-js.ts");

/**
 * Returns the given sides. If BENCH_BEFORE is set and there are peers, returns both versions of the product instead.
 */
export function chooseSides(sides: readonly Side[]): readonly Side[] {
  const { before } = SETTINGS;
  const isWithPeers = sides.some(({ isPeer }) => isPeer);
  if (before === undefined || !isWithPeers) return sides;
  return [OURS, ours("before", { repository: before })];
}
