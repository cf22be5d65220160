import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { MIGRATION_FILES } from "../db/migrator.ts";
import { createOrm } from "../db/orm.ts";
import type { SqlMigration } from "../db/migration-list.ts";
import { splitMigration } from "../db/split-migration.ts";
import { ENTITY_LIST, writeEntities } from "./write-entities.ts";

// For developers: `npm run migration:create -- <name>` lists the entities and compares them with the committed schema
// snapshot. It writes migrations, the new snapshot, and the names of new migrations and distributed tables in their
// lists. It does not connect to a database.
const [name] = process.argv.slice(2);
if (name === undefined) throw new Error("usage: npm run migration:create -- <name>");
const LIST = new URL("../db/migration-list.ts", import.meta.url);
const DISTRIBUTED = new URL("../db/citus/distributed.ts", import.meta.url);
/** A new table whose key begins with the workspace. */
const WORKSPACE_TABLE = /^create table "(\w+)" .*primary key \("workspace_id"/;

const orm = createOrm("postgres://localhost/none", {
  entities: await writeEntities(),
  migrator: MIGRATION_FILES,
});
const { fileName, diff } = await orm.migrator.create(undefined, false, false, name);
await orm.close();
const paths = [ENTITY_LIST, LIST, DISTRIBUTED, pathOf("schema-snapshot.json")];
if (fileName === "") {
  process.stdout.write("the schema is up to date\n");
} else {
  rmSync(pathOf(fileName));
  const timestamp = Number(fileName.split("-")[0]);
  const written = splitMigration(diff.up).map((part, i) => {
    // Later parts need names that sort after those of earlier parts.
    const file = `${timestamp + i}-${name}${i === 0 ? "" : `-${i + 1}`}`;
    writeFileSync(pathOf(`${file}.ts`), sourceOf(part));
    return file;
  });
  append(
    LIST,
    /(?=\};\n$)/,
    written.map((file) => `  "${file}": () => import("./migrations/${file}.ts"),\n`),
  );
  const tables = diff.up.flatMap((sql) => WORKSPACE_TABLE.exec(sql)?.[1] ?? []);
  append(
    DISTRIBUTED,
    /(?<=DISTRIBUTED_TABLES[^=]*= \[[^\]]*)(?=\];\n)/,
    tables.map((table) => `  "${table}",\n`),
  );
  paths.push(...written.map((file) => pathOf(`${file}.ts`)));
  process.stdout.write(written.map((file) => `${file}.ts\n`).join(""));
}
execFileSync(
  "oxfmt",
  paths.map(({ pathname }) => pathname),
);

/** Adds lines to a file where the pattern matches. */
function append(file: URL, at: RegExp, lines: readonly string[]): void {
  const text = readFileSync(file, "utf8");
  writeFileSync(
    file,
    text.replace(at, () => lines.join("")),
  );
}

function pathOf(file: string): URL {
  return new URL(`../db/migrations/${file}`, import.meta.url);
}

function sourceOf({ isTransactional = true, statements }: SqlMigration): string {
  const listed = statements.map((sql) => `\`${sql.replace(/[`$\\]/g, "\\$&")}\`,`);
  const single = `/** Each statement is a transaction, so that no lock is held while the next one runs. */
    export const isTransactional = false;\n\n`;
  return `${isTransactional ? "" : single}export const statements = [${listed.join("\n")}];\n`;
}
