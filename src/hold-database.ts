import type { Config } from "./config.ts";
import { holdEmbeddedPostgres } from "./db/embedded-postgres.ts";

/** A database to work on for a while. */
export interface HeldDatabase {
  readonly url: string;
  /** Lets go of it; the embedded one stops when nobody holds it any more. */
  release(): Promise<void>;
}

/**
 * The database the configuration names: the operator's, or the embedded one, started if it does not
 * run.
 */
export async function holdDatabase(
  config: Pick<Config, "databaseUrl" | "dataDir">,
): Promise<HeldDatabase> {
  if (config.databaseUrl === undefined) return holdEmbeddedPostgres(config.dataDir);
  return { url: config.databaseUrl, release: async () => undefined };
}
