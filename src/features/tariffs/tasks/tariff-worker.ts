import { parentPort, workerData } from "node:worker_threads";
import { setPlannerSettings } from "../../../db/planner-settings.ts";
import { createClient } from "../../../db/primary-client.ts";
import { checkTask } from "./check-task.ts";
import { compareTask } from "./compare-task.ts";
import { coverageTask } from "./coverage-task.ts";
import { loadTask } from "./version-tasks.ts";
import { replayTask } from "./draft-tasks.ts";
import type { TariffTask, TaskRequest, Tasks } from "./tariff-tasks.ts";

/** How long one statement may take, in milliseconds. */
const QUERY_TIMEOUT_MS = 30_000;
/** How long connecting may take, in milliseconds. */
const CONNECT_TIMEOUT_MS = 2_000;

const TASKS: { readonly [Name in keyof Tasks]: TariffTask<Name> } = {
  load: loadTask,
  check: checkTask,
  replay: replayTask,
  compare: compareTask,
  coverage: coverageTask,
};

/** Runs one task on a connection of its own, and ends. */
async function run<Name extends keyof Tasks>(request: TaskRequest<Name>): Promise<void> {
  const client = createClient(request.databaseUrl, {
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: "shipments tariff",
  });
  await client.connect();
  await setPlannerSettings(client);
  const output = await TASKS[request.name](client, request.input).finally(() => client.end());
  parentPort!.postMessage(output, buffersOf(output));
}

/** The memory behind all typed arrays of a value, each once, which moves instead of being copied. */
function buffersOf(value: unknown): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  const visit = (it: unknown): void => {
    if (it instanceof ArrayBuffer) found.add(it);
    else if (ArrayBuffer.isView(it)) found.add(it.buffer as ArrayBuffer);
    else if (typeof it === "object" && it !== null) Object.values(it).forEach(visit);
  };
  visit(value);
  return [...found];
}

await run(workerData as TaskRequest<keyof Tasks>);
