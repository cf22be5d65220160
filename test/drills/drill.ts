import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type ClientHttp2Session } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { acquireEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { runCommand, startProduct, type Ports } from "../bench/processes.ts";

export const SAMPLE_TARIFF = join(import.meta.dirname, "../../src/demo/sample-tariff.json");

/** The service as an operator runs it, on a database of its own. */
export interface Drill {
  readonly ports: Ports;
  readonly pid: number;
  /** Makes a workspace and gives its key. */
  addWorkspace(): Promise<string>;
}

/** Runs a drill on a service that is started for it and ended after it; sets the exit code. */
export async function runDrill(drill: (service: Drill) => Promise<void>): Promise<void> {
  await using owned = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "shipments-drill-"));
  owned.defer(() => rm(folder, { recursive: true, force: true }));
  const lease = await acquireEmbeddedPostgres(join(folder, "data"), { durable: false });
  owned.defer(() => lease.release());
  const environment = { DATABASE_URL: lease.url, LOG_LEVEL: "warn" };
  await runCommand(["tariff", "publish", SAMPLE_TARIFF], environment);
  const { ports, pid } = await startProduct(owned, environment);
  await drill({
    ports,
    pid,
    async addWorkspace() {
      const create = ["workspace", "create", "--name", "Drill", "--payment-provider", "manual"];
      const printed = await runCommand([...create, "--json"], environment);
      return (JSON.parse(printed) as { api_key: string }).api_key;
    },
  });
}

/** Says what was seen, and has the drill fail unless it was as promised. */
export function expect(promise: string, isKept: boolean, seen: string): void {
  process.stdout.write(`  ${isKept ? "kept  " : "BROKEN"} ${promise}: ${seen}\n`);
  if (!isKept) process.exitCode = 1;
}

/** How much memory a process has, in MiB (Linux). */
export function memoryMiB(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return Math.round(Number(kibibytes) / 1024);
}

/** A gRPC connection that lets a stream send so many bytes before it is told of more. */
export async function openSession(
  port: number,
  initialWindowSize = 65_535,
): Promise<ClientHttp2Session> {
  const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize } });
  session.on("error", () => undefined);
  await once(session, "remoteSettings");
  return session;
}
