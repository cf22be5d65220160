import { Migration } from "@mikro-orm/migrations";

/**
 * Not in a transaction, so that the table is locked for no longer than each step takes: only building the
 * index stops writing. (`concurrently` would wait for replicas that wait for this migration.) Can be repeated.
 */
export class Migration20261122171600_require_feed_positions extends Migration {
  override name = "Migration20261122171600_require_feed_positions";

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    this.addSql(`alter table "event" drop constraint if exists "event_position",
      drop constraint if exists "event_position_given";`);
    this.addSql(`drop index if exists "event_position";`);
    this.addSql(`alter table "event"
      add constraint "event_position_given" check (position is not null) not valid;`);
    this.addSql(`alter table "event" validate constraint "event_position_given";`);
    this.addSql(`create unique index "event_position" on "event" ("workspace_id", "position");`);
    // By the check that goes only then: without it all is read again, under the lock.
    this.addSql(`alter table "event" alter column "position" set not null;`);
    this.addSql(`alter table "event"
      drop constraint "event_position_given",
      add constraint "event_position" unique using index "event_position";`);
  }
}
