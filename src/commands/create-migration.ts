import { MIGRATION_FILES } from "../db/migrator.ts";
import { createOrm } from "../db/orm.ts";
import { ENTITIES } from "../server/entities.ts";

// For developers, as `npm run migration:create -- <name>`: writes a migration from the committed
// schema snapshot to the schema of the entities, and the new snapshot. DATABASE_URL may be any
// PostgreSQL.
const [name] = process.argv.slice(2);
const databaseUrl = process.env.DATABASE_URL;
if (name === undefined || databaseUrl === undefined) {
  throw new Error("usage: DATABASE_URL=postgres://... npm run migration:create -- <name>");
}
const orm = createOrm(databaseUrl, { entities: ENTITIES, migrator: MIGRATION_FILES });
const { fileName } = await orm.migrator.create(undefined, false, false, name);
const added = `${fileName}: add it to src/db/migration-list.ts\n`;
process.stdout.write(fileName === "" ? "nothing to migrate\n" : added);
await orm.close();
