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

/** Work on tariffs that is done in a thread of its own: what each task is given, and what it gives. */
export interface Tasks {
  /** Loads a version and indexes its zones. */
  readonly load: { readonly input: { readonly version: number }; readonly output: LoadedTariff };
  /** Finds everything that is wrong with a draft; gives undefined when there is no such draft. */
  readonly check: {
    readonly input: { readonly draft: number };
    readonly output: CheckedDraft | undefined;
  };
  /** Prices shipments and routes by a draft and by the tariff in force. */
  readonly replay: { readonly input: ReplayInput; readonly output: ReplayOutput };
  /** Finds how two versions differ. */
  readonly compare: { readonly input: CompareInput; readonly output: CompareOutput };
  /** Makes the GeoJSON of a version's zones, to a tolerance in metres. */
  readonly coverage: {
    readonly input: { readonly version: number; readonly toleranceM: number };
    readonly output: Uint8Array<ArrayBuffer>;
  };
}

/** A tariff ready for quoting, in a form that can move between threads. */
export interface LoadedTariff {
  readonly fees: Fees;
  readonly indexed: IndexedZones | undefined;
  readonly zones: PackedIdentities;
}

/** What was found when a draft was checked. */
export interface CheckedDraft {
  /** The revision of the draft that was checked. */
  readonly revision: number;
  /** In the order of the document; none when it can be published. */
  readonly faults: readonly TariffFault[];
  /** Problems that do not prevent publishing, in the order of the document. */
  readonly warnings: readonly TariffFault[];
  /** How many zones and tiers it has; 0 when it has faults. */
  readonly zones: number;
  readonly tiers: number;
  /** SHA-256 of the document's canonical text, in base64url, as stored with versions; undefined when it has faults. */
  readonly digest: string | undefined;
}

/** What to replay. */
export interface ReplayInput {
  readonly draft: number;
  /** The version in force; undefined while there is none. */
  readonly inForce: number | undefined;
  /** How many of the latest shipments, 0 to 10,000. */
  readonly shipments: number;
  readonly routes: readonly BookableRoute[];
}

/** A replay, or why there is none. */
export type ReplayOutput =
  | { readonly outcome: "no_such_draft" | "no_tariff_in_force" }
  | { readonly outcome: "faulty"; readonly faults: readonly TariffFault[] }
  | {
      readonly outcome: "replayed";
      /** The revision of the draft. */
      readonly revision: number;
      readonly shipments: Replay;
      /** One for each route, in the order given. */
      readonly routes: readonly { readonly inForce: Quote; readonly ofDraft: Quote }[];
    };

/** The versions to compare. */
export interface CompareInput {
  readonly from: number;
  readonly to: number;
}

/** The differences, or which of the versions there are not. */
export type CompareOutput =
  | { readonly differences: TariffDifferences; readonly unknown?: undefined }
  | { readonly unknown: readonly (keyof CompareInput)[]; readonly differences?: undefined };

/** A task in its thread, on a connection of its own. */
export type TariffTask<Name extends keyof Tasks> = (
  client: Client,
  input: Tasks[Name]["input"],
) => Promise<Tasks[Name]["output"]>;

/** What a thread is asked for. */
export interface TaskRequest<Name extends keyof Tasks> {
  readonly databaseUrl: string;
  readonly name: Name;
  readonly input: Tasks[Name]["input"];
}

type RunTask = <Name extends keyof Tasks>(
  name: Name,
  input: Tasks[Name]["input"],
) => Promise<Tasks[Name]["output"]>;

/** Runs work on tariffs in threads of its own, so that calls go on meanwhile. */
export interface TariffTasks {
  /**
   * Runs a task that somebody waits for. One runs at a time; few wait.
   *
   * @throws Refusal UNAVAILABLE when too many wait, TaskTooLargeError when it takes too much memory;
   *   rejects when the task fails
   */
  readonly run: RunTask;
  /** Runs a task at once, whatever else runs. */
  readonly runAtOnce: RunTask;
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
