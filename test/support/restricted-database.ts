import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { inject } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { connectTo, type TestDatabase } from "./database.ts";
import { whenOver } from "./when-over.ts";

/** A database whose role has only the privileges in the guide to the production database. */
export interface RestrictedDatabase extends TestDatabase {
  /** URL for the owner of the tables. */
  readonly ownerUrl: string;
  readonly user: string;
  /** Drops and creates it again, as in the guide before a dump is restored. */
  makeAnew(): Promise<void>;
}

/**
 * Returns the guide's statements, in order: on the server, before the first migration, after it,
 * and before a restore.
 */
function readStatements(): string[] {
  const guide = readFileSync("src/docs/production.md", "utf8");
  return [...guide.matchAll(/^ *```sql norun: (?:roles|as above)[^\n]*\n(.*?)^ *```$/gms)].map(
    ([, sql]) => sql!,
  );
}

/** Follows the guide with unique names. */
export async function createRestrictedDatabase(): Promise<RestrictedDatabase> {
  const name = `shipments_${randomBytes(6).toString("hex")}`;
  const [make, prepare, restrict, remake] = readStatements().map((it) =>
    it.replaceAll("shipments", name),
  );
  const admin = await connectTo(inject("adminDatabaseUrls")[0]!);
  // Creating databases requires separate statements outside transactions.
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
    makeAnew: () => run(`drop database ${name} with (force)\n${remake!}`),
    drop: whenOver(async () => {
      await admin.query(`drop database ${name} with (force)`);
      await admin.query(`drop role ${name}, ${name}_owner`);
    }),
  };
}
