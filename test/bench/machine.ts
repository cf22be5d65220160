import { execFileSync } from "node:child_process";
import { cpus, release, totalmem, type as systemName } from "node:os";
import { query } from "./database.ts";
import { SETTINGS } from "./settings.ts";

/** Describes the machine as a Markdown list. */
export async function describeMachine(databaseUrl: string): Promise<string> {
  const processors = cpus();
  const [postgres] = await query<{ server_version: string }>(databaseUrl, "show server_version");
  return [
    `- ${processors[0]?.model.trim() ?? "unknown processor"}, ${processors.length} cores`,
    `- ${(totalmem() / 1024 ** 3).toFixed(1)} GiB of memory, ${systemName()} ${release()}`,
    `- Node ${process.versions.node}, PostgreSQL ${postgres!.server_version}, all on this one machine`,
    `- ${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC, commit ${commit()}`,
    `- ${SETTINGS.rounds} rounds of ${SETTINGS.seconds} seconds`,
  ].join("\n");
}

function commit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: import.meta.dirname, encoding: "utf8" }).trim();
  try {
    const changes = git("status", "--porcelain", "../../src");
    return git("rev-parse", "--short", "HEAD") + (changes === "" ? "" : " with changes");
  } catch {
    return "unknown";
  }
}
