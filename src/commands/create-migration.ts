import { readFileSync, writeFileSync } from "node:fs";
import { MIGRATION_FILES } from "../db/migrator.ts";
import { createOrm } from "../db/orm.ts";
import { ENTITIES } from "../server/entities.ts";

// For developers, as `npm run migration:create -- <name>`: writes a migration from the committed
// schema snapshot to the schema of the entities, the new snapshot, and its name in the list. DATABASE_URL may be any
// PostgreSQL.
const [name] = process.argv.slice(2);
const databaseUrl = process.env.DATABASE_URL;
if (name === undefined || databaseUrl === undefined) {
  throw new Error("usage: DATABASE_URL=postgres://... npm run migration:create -- <name>");
}
const orm = createOrm(databaseUrl, { entities: ENTITIES, migrator: MIGRATION_FILES });
const { fileName } = await orm.migrator.create(undefined, false, false, name);
if (fileName !== "") {
  const file = fileName.replace(/\.ts$/, "");
  const list = new URL("../db/migration-list.ts", import.meta.url);
  const entry = `  "${file}": async () =>\n    (await import("./migrations/${file}.ts")).Migration${file.replaceAll("-", "_")},\n};\n`;
  writeFileSync(list, readFileSync(list, "utf8").replace(/\};\n$/, entry));
}
process.stdout.write(`${fileName || "nothing to migrate"}\n`);
await orm.close();
