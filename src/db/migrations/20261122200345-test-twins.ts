import { Migration } from "@mikro-orm/migrations";

/** Not in a transaction, so that nobody waits while the table is read. Can be repeated. */
export class Migration20261122200345_test_twins extends Migration {
  override name = "Migration20261122200345_test_twins";

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    // Twins of the workspaces that there are come later: inserting them takes longer than bookings may wait.
    this.addSql(`alter table "workspace" add column if not exists "twin_of" bigint null;`);
    this.addSql(`alter table "workspace" drop constraint if exists "workspace_twin";`);
    this.addSql(`create unique index if not exists "workspace_twin" on "workspace" ("twin_of");`);
    this.addSql(`alter table "workspace"
      add constraint "workspace_twin" unique using index "workspace_twin";`);
  }
}
