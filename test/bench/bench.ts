/**
 * `npm run bench`: how the service compares with what people would use instead, doing the same
 * work, and how its cost grows. With names of cases behind it, only those; all of them leave their
 * figures in results.md.
 */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { coverage } from "./cases/coverage.ts";
import { createCase } from "./cases/create.ts";
import { growth } from "./cases/growth.ts";
import { quoteGrpc } from "./cases/quote-grpc.ts";
import { quoteJson } from "./cases/quote-json.ts";
import { readsAndCancel } from "./cases/reads-and-cancel.ts";
import { startAndMemory } from "./cases/start-and-memory.ts";
import { startDatabaseServer, type Server } from "./database.ts";
import { interrupted } from "./interruption.ts";
import { describeMachine } from "./machine.ts";

/** What is measured: each gives Markdown. */
const CASES: Readonly<Record<string, readonly [title: string, measure: Measure]>> = {
  "quote-json": ["Quote, JSON", quoteJson],
  "quote-grpc": ["Quote, gRPC", quoteGrpc],
  create: ["Create", createCase],
  "reads-and-cancel": ["Get, list, cancel", readsAndCancel],
  coverage: ["Coverage", coverage],
  growth: ["Growth", growth],
  "start-and-memory": ["Start and memory", startAndMemory],
};
type Measure = (server: Server) => Promise<string>;

const RESULTS = fileURLToPath(new URL("results.md", import.meta.url));
const INTRODUCTION = `Every figure is the median of interleaved rounds, with the least and the most; ratios, too, are
taken round by round. Server, load generator and database are processes of their own on one machine;
no request failed. CPU is the processor time that the server's process takes for each request, all
its threads together, without the database's.`;

const named = process.argv.slice(2);
const unknown = named.filter((name) => !(name in CASES));
if (unknown.length > 0) {
  process.stderr.write(
    `no such case: ${unknown.join(", ")}; there are ${Object.keys(CASES).join(", ")}\n`,
  );
  process.exit(2);
}
try {
  const results = await measureCases(named.length === 0 ? Object.keys(CASES) : named);
  if (named.length === 0) await writeFile(RESULTS, results);
} catch (error) {
  if (!interrupted.aborted) throw error;
  process.stderr.write("interrupted; everything that was started has ended\n");
  process.exit(130);
}
process.exit();

async function measureCases(names: readonly string[]): Promise<string> {
  await using server = await startDatabaseServer();
  const parts = ["# The bench", INTRODUCTION, await describeMachine(server.url)];
  process.stdout.write(`${parts.join("\n\n")}\n`);
  for (const name of names) {
    const [title, measure] = CASES[name]!;
    const part = `## ${title}\n\n${await measure(server)}`;
    process.stdout.write(`\n${part}\n`);
    parts.push(part);
  }
  return `${parts.join("\n\n")}\n`;
}
