import { databaseCommand } from "./command.ts";

/**
 * How long the database is waited for, in milliseconds: it may start at the same time, and who starts
 * containers puts off each other try for longer.
 */
const WAIT_MS = 60_000;

export const migrateCommand = databaseCommand(
  "migrate",
  "bring the database's schema up to date",
  [],
  async ({ migrated }) => ({
    json: { applied: migrated },
    lines: migrated.length === 0 ? ["Nothing to apply."] : migrated,
  }),
  WAIT_MS,
);
