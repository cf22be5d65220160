import { Migration } from "@mikro-orm/migrations";

/** As a function, the row of a single event can take its position in one statement. */
export class Migration20261122181500_raise_feed extends Migration {
  override name = "Migration20261122181500_raise_feed";

  override up(): void | Promise<void> {
    this.addSql(`create or replace function raise_feed(workspace bigint, count int) returns bigint
      language plpgsql as $$
      declare
        raised bigint;
      begin
        insert into feed (workspace_id, position, changed_at)
        values (workspace, count, statement_timestamp())
        on conflict (workspace_id)
          do update set position = feed.position + excluded.position, changed_at = excluded.changed_at
        returning position into raised;
        return raised;
      end;
      $$;`);
  }
}
