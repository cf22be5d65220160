import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { inject } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { connectTo, type TestDatabase } from "./database.ts";
import { whenOver } from "./when-over.ts";

/** A database whose role has only the privileges listed in the guide on production databases. */
export interface RestrictedDatabase extends TestDatabase {
  /** Database URL for the owner of the tables. */
  readonly ownerUrl: string;
  readonly user: string;
  /** Drops and recreates the database as the guide describes before restoring a dump. */
  recreate(): Promise<void>;
}

/**
 * Reads the guide's statements, in order: on the server, before the first migration, after it, and before a restore.
 */
function readStatements(): string[] {
  const guide = readFileSync("src/docs/production.md", "utf8");
  return [...guide.matchAll(/^ *```sql norun: (?:roles|as above)[^\n]*\n(.*?)^ *```$/gms)].map(([, sql]) => sql!);
}

/** Creates a database with the guide's statements, under unique names. */
export async function createRestrictedDatabase(): Promise<RestrictedDatabase> {
  const name = `shipments_${randomBytes(6).toString("hex")}`;
  const [make, prepare, restrict, remake] = readStatements().map((it) => it.replaceAll("shipments", name));
  const admin = await connectTo(inject("adminDatabaseUrls")[0]!);
  // Runs each statement separately, because a database cannot be created in a transaction.
  const run = async (sql: string) => {
    for (const statement of sql.trim().split("\n")) await admin.query(statement);
  };
  await run(make!);
  const urlOf = (user: string, password: string) => {
    const url = new URL(inject("adminDatabaseUrls")[0]!);
    Object.assign(url, { username: user, password, pathname: name });
    return url.href;
  };
  const ownerUrl = urlOf(`${name}_owner`, "one of your own");
  const owner = await connectTo(ownerUrl);
  await owner.query(prepare!);
  await migrate(ownerUrl);
  await owner.query(restrict!);
  await owner.end();
  return {
    url: urlOf(name, "another one"),
    ownerUrl,
    user: name,
    recreate: () => run(`drop database ${name} with (force)\n${remake!}`),
    drop: whenOver(async () => {
      await admin.query(`drop database ${name} with (force)`);
      await admin.query(`drop role ${name}, ${name}_owner`);
    }),
  };
}
