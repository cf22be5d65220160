import { once } from "node:events";
import { extname } from "node:path";
import { Worker, type ResourceLimits } from "node:worker_threads";
import { LRUCache } from "lru-cache";
import type { Client } from "pg";
import { createSemaphore } from "../../../db/semaphore.ts";
import type { IndexedZones } from "../../../domain/coverage/coverage.ts";
import type { PackedIdentities } from "../../../domain/coverage/zone-identities.ts";
import type { TariffFault } from "../../../domain/faults.ts";
import { MAX_TARIFF_DRAFTS } from "../../../domain/limits.ts";
import type { TariffDifferences } from "../../../domain/pricing/compare-tariffs.ts";
import type { Quote } from "../../../domain/pricing/pricing.ts";
import type { Replay } from "../../../domain/pricing/replay.ts";
import type { BookableRoute } from "../../../domain/pricing/windows.ts";
import type { Fees } from "../../../domain/pricing/tariff.ts";
import { unavailable } from "../../../domain/refusal.ts";

/** Tariff tasks that run in worker threads, with their inputs and outputs. */
export interface Tasks {
  /** Loads a tariff version and indexes its zones. */
  readonly load: { readonly input: { readonly version: number }; readonly output: LoadedTariff };
  /** Finds all errors in a draft. Returns `undefined` if the draft does not exist. */
  readonly check: {
    readonly input: { readonly draft: number };
    readonly output: CheckedDraft | undefined;
  };
  /** Prices shipments and routes with a draft and with the tariff in force. */
  readonly replay: { readonly input: ReplayInput; readonly output: ReplayOutput };
  readonly compare: { readonly input: CompareInput; readonly output: CompareOutput };
  /** Returns the GeoJSON of a version's zones, simplified to a tolerance in meters. */
  readonly coverage: {
    readonly input: { readonly version: number; readonly toleranceM: number };
    readonly output: Uint8Array<ArrayBuffer>;
  };
}

/** A tariff prepared for quoting, in a form that can be transferred between threads. */
export interface LoadedTariff {
  readonly fees: Fees;
  readonly indexed: IndexedZones | undefined;
  readonly zones: PackedIdentities;
}

export interface CheckedDraft {
  /** Revision of the draft that was checked. */
  readonly revision: number;
  /** Errors in document order. Empty if the draft can be published. */
  readonly faults: readonly TariffFault[];
  /** Warnings, which do not prevent publishing, in document order. */
  readonly warnings: readonly TariffFault[];
  /** 0 if there are errors. */
  readonly zones: number;
  readonly tiers: number;
  /**
   * SHA-256 of the document's canonical text in base64url, as stored with versions. `undefined` if there are errors.
   */
  readonly digest: string | undefined;
}

interface ReplayInput {
  readonly draft: number;
  /** Number of the version in force, if any. */
  readonly inForce: number | undefined;
  /** Number of latest shipments to price, 0 to 10,000. */
  readonly shipments: number;
  readonly routes: readonly BookableRoute[];
}

type ReplayOutput =
  | { readonly outcome: "no_such_draft" | "no_tariff_in_force" }
  | { readonly outcome: "faulty"; readonly faults: readonly TariffFault[] }
  | {
      readonly outcome: "replayed";
      readonly revision: number;
      readonly shipments: Replay;
      /** Quotes for each route, in the given order. */
      readonly routes: readonly { readonly inForce: Quote; readonly ofDraft: Quote }[];
    };

export interface CompareInput {
  readonly from: number;
  readonly to: number;
}

/** The differences, or the versions that do not exist. */
type CompareOutput =
  | { readonly differences: TariffDifferences; readonly unknown?: undefined }
  | { readonly unknown: readonly (keyof CompareInput)[]; readonly differences?: undefined };

/** A task that runs in a worker thread with its own database connection. */
export type TariffTask<Name extends keyof Tasks> = (
  client: Client,
  input: Tasks[Name]["input"],
) => Promise<Tasks[Name]["output"]>;

/** Message that starts a task in a worker thread. */
export interface TaskRequest<Name extends keyof Tasks> {
  readonly databaseUrl: string;
  readonly name: Name;
  readonly input: Tasks[Name]["input"];
}

type RunTask = <Name extends keyof Tasks>(name: Name, input: Tasks[Name]["input"]) => Promise<Tasks[Name]["output"]>;

/** Runs tariff tasks in worker threads, so that this thread stays available for calls. */
export interface TariffTasks {
  /**
   * Runs a task for a waiting caller. Only one such task runs at a time.
   *
   * @throws Refusal UNAVAILABLE if too many tasks are waiting, TaskTooLargeError if the task needs
   *   too much memory, and the errors of the task
   */
  readonly run: RunTask;
  /** Runs a task immediately, in parallel with other tasks and without a memory limit. */
  readonly runAtOnce: RunTask;
  /** Finished and running checks of large drafts, by the draft's etag. */
  readonly checks: LRUCache<string, Promise<CheckedDraft | undefined>>;
}

/** Thrown if a task exceeds its memory limit. */
export class TaskTooLargeError extends Error {}

/** URL of the worker, which is next to this file and has the same extension, even in the built program. */
const WORKER = new URL(`tariff-worker${extname(import.meta.url)}`, import.meta.url);

/** Maximum number of running and waiting tasks. */
const MAX_TASKS = 10;
/** Maximum number of cached checks, one per draft. */
const MAX_CHECKS = MAX_TARIFF_DRAFTS;
/**
 * Heap limit for tasks that a caller is waiting for, in MiB. The limit cannot stop a single allocation with millions of
 * elements, so list sizes are limited as well.
 */
const MAX_HEAP_MIB = 768;

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
    // `once` rejects if the worker fails.
    const [output] = (await once(worker, "message")) as [Tasks[Name]["output"]];
    return output;
  }

  return {
    // Has no memory limit, because the tariff in force must be loaded in any case.
    runAtOnce: (name, input) => runIn({}, name, input),
    checks: new LRUCache({ max: MAX_CHECKS }),
    async run(name, input) {
      if (tasks >= MAX_TASKS) {
        throw unavailable("Too many tariff tasks are waiting. Try again in a moment.");
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
