import { sql } from "@mikro-orm/postgresql";

/**
 * The condition that a key works now, by the database's clock, which is the same for every replica.
 * Not by the time at which the transaction began: it may have waited since.
 */
export function isWorking() {
  return { $or: [{ endsAt: null }, { endsAt: { $gt: sql`clock_timestamp()` } }] };
}
