import { parentPort, workerData } from "node:worker_threads";
import { setServingSettings } from "../../../db/connection-settings.ts";
import { createClient } from "../../../db/primary-client.ts";
import { checkTask, replayTask, compareTask, coverageTask, loadTask } from "./tariff-tasks.ts";
import type { TariffTask, TaskRequest, Tasks } from "./run-tariff-task.ts";

const QUERY_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 2_000;

const TASKS: { readonly [Name in keyof Tasks]: TariffTask<Name> } = {
  load: loadTask,
  check: checkTask,
  replay: replayTask,
  compare: compareTask,
  coverage: coverageTask,
};

/** Runs one task with its own database connection, then exits. */
async function run<Name extends keyof Tasks>(request: TaskRequest<Name>): Promise<void> {
  const client = createClient(request.databaseUrl, {
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: "shipments tariff",
  });
  await client.connect();
  await setServingSettings(client);
  const output = await TASKS[request.name](client, request.input).finally(() => client.end());
  parentPort!.postMessage(output, buffersOf(output));
}

/** Returns the distinct buffers of all typed arrays in a value. Transferring them avoids copies. */
function buffersOf(value: unknown): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  const visit = (part: unknown): void => {
    if (part instanceof ArrayBuffer) found.add(part);
    else if (ArrayBuffer.isView(part)) found.add(part.buffer as ArrayBuffer);
    else if (typeof part === "object" && part !== null) Object.values(part).forEach(visit);
  };
  visit(value);
  return [...found];
}

await run(workerData as TaskRequest<keyof Tasks>);
