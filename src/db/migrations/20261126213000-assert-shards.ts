import { Migration } from "@mikro-orm/migrations";

/** With the rights of the tables' owner, since Citus lets nobody else lock shards. Used where it is, and else never called. */
export class Migration20261126213000_assert_shards extends Migration {
  override up(): void {
    this.addSql(`
create or replace function assert_shards(ids bigint[], here int, hold boolean) returns void
      language plpgsql security definer set search_path = pg_catalog as $$
      begin
        if hold then
          perform lock_shard_metadata(5, ids);
        end if;
        if (select count(*) from pg_dist_placement where shardid = any (ids) and groupid = here) < cardinality(ids) then
          raise exception 'a shard has moved' using errcode = 'SHMOV';
        end if;
      end;
      $$`);
  }
}
