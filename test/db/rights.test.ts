import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { connectTo } from "../support/database.ts";
import { createRestrictedDatabase } from "../support/restricted-database.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const database = await createRestrictedDatabase();

/** Runs SQL as the owner of the tables. */
async function asOwner(sql: string): Promise<void> {
  const owner = await connectTo(database.ownerUrl);
  await owner.query(sql.replaceAll("USER", database.user));
  await owner.end();
}

/** Runs a query as the owner of the tables and returns the rows. */
async function rowsOf(sql: string): Promise<unknown[]> {
  const owner = await connectTo(database.ownerUrl);
  const { rows } = await owner.query(sql);
  await owner.end();
  return rows;
}

/** Returns the error that would prevent the service from starting, or `undefined`. */
const faultOf = (url: string) =>
  migrate(url).then(
    () => undefined,
    (error: Error) => error.message,
  );

test("the guide's role has every privilege that is checked at startup", async () => {
  expect(await faultOf(database.url)).toBe(undefined);
});

test.each([
  ["select on table shipment", "SELECT on table shipment"],
  [
    "insert, delete on table event, customer",
    "INSERT on table customer, table event; DELETE on table customer, table event",
  ],
  [
    "update on table api_key, customer, event, shipment, webhook",
    "UPDATE on table api_key, table customer, table event and 2 more",
  ],
  ["usage on sequence workspace_id_seq", "USAGE on sequence workspace_id_seq"],
  ["select on table applied_migration", "SELECT on table applied_migration"],
])("a start without %s reports the missing privilege", async (rights, missing) => {
  await asOwner(`revoke ${rights} from USER`);
  const fault = await faultOf(database.url);
  await asOwner(`grant ${rights} to USER`);
  expect(fault).toBe(
    `cannot use the database: its user lacks ${missing}; grant these privileges, or correct the user in DATABASE_URL`,
  );
});

test("ignores other tables in the schema", async () => {
  await asOwner("grant create on schema public to USER");
  const other = await connectTo(database.url);
  await other.query("create table other (id int); revoke all on table other from current_user");
  expect(await faultOf(database.url)).toBe(undefined);
  await other.query("drop table other");
  await other.end();
  await asOwner("revoke create on schema public from USER");
});

test.each([
  [
    "revoke all on database USER from USER",
    "grant connect on database USER to USER",
    'permission denied for database "USER", which requires CONNECT; grant the privilege to the user in DATABASE_URL, or migrate as the owner of the tables',
  ],
  [
    "revoke usage on schema public from public",
    "grant usage on schema public to public",
    "its user lacks USAGE on schema public; grant these privileges, or correct the user in DATABASE_URL",
  ],
  [
    "alter table applied_migration rename to applied_once",
    "alter table applied_once rename to applied_migration",
    "permission denied for schema public, which requires CREATE; grant the privilege to the user in DATABASE_URL, or migrate as the owner of the tables",
  ],
])("a permission error names the required privilege: %s", async (spoil, mend, message) => {
  await asOwner(spoil);
  const fault = await faultOf(database.url);
  await asOwner(mend);
  expect(fault).toBe(`cannot use the database: ${message.replaceAll("USER", database.user)}`);
});

/** Whether pg_dump is installed in the server's version or a newer one. */
async function canDump(): Promise<boolean> {
  const { stdout } = spawnSync("pg_dump", ["--version"], { encoding: "utf8" });
  const [server] = await rowsOf("select current_setting('server_version_num')::int / 10000 as major");
  return Number(/\d+/.exec(stdout ?? "")?.[0] ?? 0) >= (server as { major: number }).major;
}

test.runIf(await canDump())(
  "only the owner can dump the database, and a dump restored as in the guide has every privilege",
  async () => {
    const folder = makeTemporaryFolder("dump");
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "dump");
    const run = (program: string, ...args: string[]) => spawnSync(program, args, { encoding: "utf8" }).stderr;
    expect(run("pg_dump", "-Fc", "-f", file, database.url)).toContain("permission denied");
    expect(run("pg_dump", "-Fc", "-f", file, database.ownerUrl)).toBe("");
    const rights = () =>
      rowsOf(`
        select 'database' as of, unnest(datacl)::text as granted from pg_database where datname = current_database()
        union select relname, unnest(relacl)::text from pg_class where relnamespace = 'public'::regnamespace
        union select defaclobjtype::text, unnest(defaclacl)::text from pg_default_acl
        order by 1, 2`);
    const before = await rights();
    await database.recreate();
    expect(run("pg_restore", "--jobs", "4", "-d", database.ownerUrl, file)).toBe("");
    expect(await rights()).toEqual(before);
    expect(await faultOf(database.url)).toBe(undefined);
  },
);
