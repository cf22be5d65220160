import { once } from "node:events";
import { extname } from "node:path";
import { Worker, type ResourceLimits } from "node:worker_threads";
import { LRUCache } from "lru-cache";
import { createSemaphore } from "../../../db/semaphore.ts";
import { MAX_TARIFF_DRAFTS } from "../../../domain/limits.ts";
import { unavailable } from "../../../domain/refusal.ts";
import type { CheckedDraft } from "./check-task.ts";
import type { TaskRequest, Tasks } from "./tariff-tasks.ts";

/** Runs work on tariffs in threads of its own, so that calls go on meanwhile. */
export interface TariffTasks {
  /**
   * Runs a task that somebody waits for. One runs at a time; few wait.
   *
   * @throws Refusal UNAVAILABLE when too many wait, TaskTooLargeError when it takes too much memory;
   *   rejects when the task fails
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
  /** Checks of large drafts that are made or being made, by the draft's etag. */
  readonly checks: LRUCache<string, Promise<CheckedDraft | undefined>>;
}

/** A task needed more memory than it may have. */
export class TaskTooLargeError extends Error {}

/** In the built program, too, it lies beside this file, and is in the same language. */
const WORKER = new URL(`tariff-worker${extname(import.meta.url)}`, import.meta.url);

/** How many tasks may run or wait. */
const MAX_TASKS = 10;
/** How many checks are kept; there are at most as many drafts at a time. */
const MAX_CHECKS = MAX_TARIFF_DRAFTS;
/**
 * How much memory a task that somebody waits for may take for objects, in MiB. Lists of millions of
 * positions are made in one go, which cannot be stopped, so that their size is bounded as well.
 */
const MAX_HEAP_MIB = 768;

/** Builds the runner of tasks on one database. */
export function createTariffTasks(databaseUrl: string): TariffTasks {
  const turn = createSemaphore(1);
  let tasks = 0;

  async function runIn<Name extends keyof Tasks>(
    resourceLimits: ResourceLimits,
    name: Name,
    input: Tasks[Name]["input"],
  ): Promise<Tasks[Name]["output"]> {
    const worker = new Worker(WORKER, {
      workerData: { databaseUrl, name, input } satisfies TaskRequest<Name>,
      resourceLimits,
    });
    // Rejects when the worker fails.
    const [output] = (await once(worker, "message")) as [Tasks[Name]["output"]];
    return output;
  }

  return {
    // What is in force has to be loaded, whatever it takes.
    runAtOnce: (name, input) => runIn({}, name, input),
    checks: new LRUCache({ max: MAX_CHECKS }),
    async run(name, input) {
      if (tasks >= MAX_TASKS) {
        throw unavailable("Too much work on tariffs is waiting; try again in a moment.");
      }
      tasks++;
      await turn.acquire();
      try {
        return await runIn({ maxOldGenerationSizeMb: MAX_HEAP_MIB }, name, input);
      } catch (error) {
        const isTooLarge = (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";
        throw isTooLarge ? new TaskTooLargeError(name, { cause: error }) : error;
      } finally {
        turn.release();
        tasks--;
      }
    },
  };
}
