/**
 * `npm run bench`: compares the service with alternatives that do the same work, and measures how its cost grows.
 * Arguments are the names of the cases to run. A run of all cases writes results.md.
 */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { CASES } from "./cases.ts";
import type { Bench } from "./contest.ts";
import { startDatabaseServer } from "./database.ts";
import type { Load, Outcome } from "./load/load.ts";
import { describeMachine } from "./machine.ts";
import { interrupted, startWorker } from "./processes.ts";
import { SETTINGS } from "./settings.ts";

const RESULTS = fileURLToPath(new URL("results.md", import.meta.url));
const INTRODUCTION = `Every figure is the median of interleaved rounds, with the least and the most; ratios, too, are
taken round by round. Server, load generator and database are processes of their own on one machine;
no request failed. CPU is the processor time that the server's process takes for each request, all
its threads together, without the database's.`;

const named = process.argv.slice(2);
const unknown = named.filter((name) => !(name in CASES));
if (unknown.length > 0) {
  const known = Object.keys(CASES).join(", ");
  process.stderr.write(`no such case: ${unknown.join(", ")}; available cases: ${known}\n`);
  process.exit(2);
}
try {
  const results = await measureCases(named.length === 0 ? Object.keys(CASES) : named);
  if (named.length === 0 && SETTINGS.before === undefined) await writeFile(RESULTS, results);
} catch (error) {
  if (!interrupted.aborted) throw error;
  process.stderr.write("interrupted; all started processes have exited\n");
  process.exit(130);
}
process.exit();

async function measureCases(names: readonly string[]): Promise<string> {
  await using owned = new AsyncDisposableStack();
  const databases = await startDatabaseServer(owned);
  const generator = await startWorker<Load, Outcome>(owned, "load/load-process.ts");
  const bench: Bench = { databases, generator };
  const parts = ["# The bench", INTRODUCTION, await describeMachine(databases.url)];
  process.stdout.write(`${parts.join("\n\n")}\n`);
  for (const name of names) {
    const { title, measure } = CASES[name]!;
    const part = `## ${title}\n\n${await measure(bench)}`;
    process.stdout.write(`\n${part}\n`);
    parts.push(part);
  }
  return `${parts.join("\n\n")}\n`;
}
