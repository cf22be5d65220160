import { cpus, release, totalmem, type as systemName } from "node:os";
import pg from "pg";
import { runCommand } from "./run-command.ts";
import { SETTINGS } from "./settings.ts";

/** What the figures were measured on, as a Markdown list. */
export async function describeMachine(databaseUrl: string): Promise<string> {
  const processors = cpus();
  return [
    `- ${processors[0]?.model.trim() ?? "unknown processor"}, ${processors.length} cores`,
    `- ${(totalmem() / 1024 ** 3).toFixed(1)} GiB of memory, ${systemName()} ${release()}`,
    `- Node ${process.versions.node}, PostgreSQL ${await postgresVersion(databaseUrl)}, all on this one machine`,
    `- ${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC, commit ${await commit()}`,
    `- ${SETTINGS.rounds} rounds of ${SETTINGS.seconds} seconds`,
  ].join("\n");
}

async function postgresVersion(databaseUrl: string): Promise<string> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const { rows } = await client.query<{ server_version: string }>("show server_version");
    return rows[0]!.server_version;
  } finally {
    await client.end();
  }
}

async function commit(): Promise<string> {
  const here = { cwd: import.meta.dirname };
  try {
    const name = (await runCommand("git", ["rev-parse", "--short", "HEAD"], here)).trim();
    const changes = await runCommand("git", ["status", "--porcelain", "../../src"], here);
    return changes === "" ? name : `${name} with changes`;
  } catch {
    return "unknown";
  }
}
