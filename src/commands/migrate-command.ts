import { databaseCommand } from "./command.ts";

/**
 * Maximum wait for the database, in milliseconds. The database may be starting at the same time, and
 * container platforms restart failed commands with increasing delays.
 */
const WAIT_MS = 60_000;

export const migrateCommand = databaseCommand(
  "migrate",
  "apply pending database migrations",
  [],
  async ({ migrated }) => ({
    json: { applied: migrated },
    lines: migrated.length === 0 ? ["Nothing to apply."] : migrated,
  }),
  WAIT_MS,
);
