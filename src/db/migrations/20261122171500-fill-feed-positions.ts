import { Migration } from "@mikro-orm/migrations";

export class Migration20261122171500_fill_feed_positions extends Migration {
  override name = "Migration20261122171500_fill_feed_positions";

  override up(): void | Promise<void> {
    // In the order in which feeds have shown them so far, the newest below the first that was written since
    // positions are given: the oldest may be purged meanwhile. Nobody waits for it.
    this.addSql(`update event set position = numbered.position
      from (
        select old.workspace_id, old.subject, old.number,
          coalesce(since.first, feed.position + 1) - row_number() over (
            partition by old.workspace_id
            order by old.transaction desc, old.subject desc, old.number desc
          ) as position
        from event as old
        join feed on feed.workspace_id = old.workspace_id
        left join (
          select workspace_id, min(position) as first from event
          where position is not null group by workspace_id
        ) as since on since.workspace_id = old.workspace_id
        where old.position is null
      ) as numbered
      where event.workspace_id = numbered.workspace_id and event.subject = numbered.subject
        and event.number = numbered.number;`);
  }
}
