import type { Client } from "pg";
import type { TariffFault } from "../../../domain/faults.ts";
import type { TariffDifferences } from "../../../domain/pricing/compare-tariffs.ts";
import type { Quote, Route } from "../../../domain/pricing/pricing.ts";
import type { Replay } from "../../../domain/pricing/replay.ts";
import type { CheckedDraft } from "./check-task.ts";
import type { LoadedTariff } from "./version-tasks.ts";

/** Work on tariffs that is done in a thread of its own: what each task is given, and what it gives. */
export interface Tasks {
  /** Reads a version and indexes its zones. */
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

/** What to replay. */
export interface ReplayInput {
  readonly draft: number;
  /** How many of the latest shipments, 0 to 10,000. */
  readonly shipments: number;
  readonly routes: readonly Route[];
}

/** A replay, or why there is none. */
export type ReplayOutput =
  | { readonly outcome: "no_such_draft" | "no_tariff_in_force" }
  | { readonly outcome: "faulty"; readonly faults: readonly TariffFault[] }
  | {
      readonly outcome: "replayed";
      /** The revision of the draft. */
      readonly revision: number;
      /** The version in force. */
      readonly version: number;
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
