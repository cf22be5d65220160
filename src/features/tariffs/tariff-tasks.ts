import type { Client } from "pg";
import type { LoadedTariff } from "./load-task.ts";

/** Work on tariffs that is done in a thread of its own: what each task is given, and what it gives. */
export interface Tasks {
  /** Reads a version and indexes its zones. */
  readonly load: { readonly input: { readonly version: number }; readonly output: LoadedTariff };
  /** Makes the GeoJSON of a version's zones, to a tolerance in metres. */
  readonly coverage: {
    readonly input: { readonly version: number; readonly toleranceM: number };
    readonly output: Uint8Array<ArrayBuffer>;
  };
}

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
