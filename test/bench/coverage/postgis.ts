import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chown, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "../database.ts";
import { freePort } from "../free-port.ts";
import { interrupted } from "../interruption.ts";
import { runCommand } from "../run-command.ts";

/** PostgreSQL does not run as root; Debian's packages make this account for it. */
const ACCOUNT = "postgres";
const READY_MS = 30_000;

/**
 * Starts a PostgreSQL of Debian's packages on an empty folder, with PostGIS.
 *
 * @param programs the folder of its programs
 * @returns the URL of its database
 */
export async function startPostgis(owned: AsyncDisposableStack, programs: string): Promise<string> {
  const account = process.getuid!() === 0 ? await accountNamed(ACCOUNT) : undefined;
  const folder = await mkdtemp(join(tmpdir(), "shipments-bench-postgis-"));
  owned.defer(() => rm(folder, { recursive: true, force: true }));
  const password = randomBytes(16).toString("hex");
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, password);
  if (account !== undefined) {
    await chown(folder, account.uid, account.gid);
    await chown(passwordFile, account.uid, account.gid);
  }
  const data = join(folder, "data");
  const port = await freePort();
  await runCommand(
    join(programs, "initdb"),
    ["-D", data, "-U", "bench", "--auth=scram-sha-256", `--pwfile=${passwordFile}`, "-E", "UTF8"],
    { ...account, cwd: folder },
  );
  const settings = { listen_addresses: "127.0.0.1", port, unix_socket_directories: "" };
  const child = spawn(
    join(programs, "postgres"),
    [
      "-D",
      data,
      ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ],
    { ...account, cwd: folder, stdio: "ignore" },
  );
  owned.defer(async () => {
    if (child.exitCode !== null) return;
    const ended = once(child, "exit");
    // Its word for ending without waiting for clients.
    child.kill("SIGINT");
    await ended;
  });
  const url = `postgresql://bench:${password}@127.0.0.1:${port}/postgres`;
  await untilReady(url);
  await withClient(url, (client) => client.query("create extension postgis"));
  return url;
}

async function accountNamed(name: string): Promise<{ uid: number; gid: number }> {
  const line = (await readFile("/etc/passwd", "utf8"))
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`));
  if (line === undefined) throw new Error(`there is no account ${name} to run PostgreSQL`);
  const [, , uid, gid] = line.split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

async function untilReady(url: string): Promise<void> {
  const deadline = performance.now() + READY_MS;
  for (;;) {
    interrupted.throwIfAborted();
    try {
      return await withClient(url, async () => undefined);
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(50);
    }
  }
}
