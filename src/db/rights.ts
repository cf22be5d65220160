import type { Client } from "pg";
import { ConnectionError } from "./connection-error.ts";

/** Maximum number of objects listed in a message. Further objects are only counted. */
const MAX_LISTED = 3;

/**
 * Lists the privileges that the current user lacks on the service's tables and sequences, which belong to the owner of
 * `applied_migration`. That table is only read, and audit entries are never changed.
 */
const MISSING_RIGHTS = `
  select wanted as "right", array_agg(kind || ' ' || found.relname order by kind desc, found.relname) as objects
  from pg_class as found
  join pg_class as migrations using (relnamespace, relowner)
  cross join lateral (
    select case when found.relkind = 'S' then 'sequence' else 'table' end as kind
  ) as named
  cross join unnest(case
    when found.relname = 'applied_migration_id_seq' then '{}'
    when found.relkind = 'S' then '{USAGE}'
    when found.relname = 'applied_migration' then '{SELECT}'
    when found.relname = 'audit_entry' then '{SELECT,INSERT}'
    else '{SELECT,INSERT,UPDATE,DELETE}' end::text[]) with ordinality as rights (wanted, ordinality)
  where migrations.oid = to_regclass('applied_migration') and found.relkind in ('r', 'p', 'S')
    and not case when found.relkind = 'S' then has_sequence_privilege(found.oid, wanted)
      else has_table_privilege(found.oid, wanted) end
  group by wanted
  order by min(kind) desc, min(ordinality)`;

/**
 * Checks that the current user has all required privileges.
 *
 * @throws ConnectionError that lists missing privileges on schema, tables and sequences
 */
export async function assertRights(client: Pick<Client, "query">): Promise<void> {
  // Without the usage privilege, the schema is not in the search path.
  const { rows: schemas } = await client.query("select current_schema() as schema");
  const { rows: rights } = await client.query<MissingRight>(MISSING_RIGHTS);
  const lacking = schemas[0].schema === null ? [{ right: "USAGE", objects: ["schema public"] }] : rights;
  if (lacking.length === 0) return;
  const missing = lacking.map(({ right, objects }) => `${right} on ${listOf(objects)}`).join("; ");
  throw new ConnectionError(
    `its user lacks ${missing}; grant these privileges, or correct the user in DATABASE_URL`,
    false,
  );
}

interface MissingRight {
  readonly right: string;
  readonly objects: readonly string[];
}

function listOf(objects: readonly string[]): string {
  const named = objects.slice(0, MAX_LISTED).join(", ");
  return objects.length > MAX_LISTED ? `${named} and ${objects.length - MAX_LISTED} more` : named;
}
