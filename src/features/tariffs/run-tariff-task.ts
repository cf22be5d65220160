import { once } from "node:events";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { createSemaphore } from "../../db/semaphore.ts";
import { unavailable } from "../../domain/refusal.ts";
import type { TaskRequest, Tasks } from "./tariff-tasks.ts";

/** Runs work on tariffs in threads of its own, so that calls go on meanwhile. */
export interface TariffTasks {
  /**
   * Runs a task that somebody waits for. One runs at a time; few wait.
   *
   * @throws Refusal UNAVAILABLE when too many wait; rejects when the task fails
   */
  run<Name extends keyof Tasks>(
    name: Name,
    input: Tasks[Name]["input"],
  ): Promise<Tasks[Name]["output"]>;
  /** Runs a task at once, whatever else runs. */
  runAtOnce<Name extends keyof Tasks>(
    name: Name,
    input: Tasks[Name]["input"],
  ): Promise<Tasks[Name]["output"]>;
}

/** In the built program, too, it lies beside this file, and is in the same language. */
const WORKER = new URL(`tariff-worker${extname(import.meta.url)}`, import.meta.url);

/** How many tasks may run or wait. */
const MAX_TASKS = 10;

/** Builds the runner of tasks on one database. */
export function createTariffTasks(databaseUrl: string): TariffTasks {
  const turn = createSemaphore(1);
  let tasks = 0;

  async function runAtOnce<Name extends keyof Tasks>(
    name: Name,
    input: Tasks[Name]["input"],
  ): Promise<Tasks[Name]["output"]> {
    const worker = new Worker(WORKER, {
      workerData: { databaseUrl, name, input } satisfies TaskRequest<Name>,
    });
    // Rejects when the worker fails.
    const [output] = (await once(worker, "message")) as [Tasks[Name]["output"]];
    return output;
  }

  return {
    runAtOnce,
    async run(name, input) {
      if (tasks >= MAX_TASKS) {
        throw unavailable("Too much work on tariffs is waiting; try again in a moment.");
      }
      tasks++;
      await turn.acquire();
      try {
        return await runAtOnce(name, input);
      } finally {
        turn.release();
        tasks--;
      }
    },
  };
}
