/**
 * The function runs with the privileges of the tables' owner, because only the owner may lock shards in
 * Citus. It also checks before locking, because locking fails for a shard that no longer exists.
 * Databases without Citus never call it.
 */
export const statements = [
  `
create or replace function assert_shards(ids bigint[], hold boolean) returns void
      language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
      begin
        for look in 1 .. case when hold then 2 else 1 end loop
          if look = 2 then
            perform pg_catalog.lock_shard_metadata(5, ids);
          end if;
          if cardinality(ids) > (
            select count(*) from pg_catalog.pg_dist_placement natural join pg_catalog.pg_dist_local_group
            where shardid = any (ids)
          ) then
            raise exception 'a shard has moved' using errcode = 'SHMOV';
          end if;
        end loop;
      end;
      $$`,
];
