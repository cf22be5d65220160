import type pg from "pg";
import type { EntityManager } from "../../src/db/orm.ts";
import { createRollUpQueue } from "../../src/features/reports/roll-up-bookings.ts";
import { eventually } from "./eventually.ts";
import { workOff } from "./work-off.ts";

const BEHIND = `
  select from feed left join booking_roll_up as counted using (workspace_id)
    join workspace on workspace.id = feed.workspace_id and workspace.twin_of is null
  where counted is null or counted.position < feed.position or counted.fill_before is not null`;

/** Ends the pause between roll-ups, so that the background counts every workspace at once. */
export const endRests = (sql: pg.Client) => sql.query("update booking_roll_up set rest_until = '-infinity'");

/** Rolls up bookings by day, as the background work does, until all are counted. */
export async function countBookings(sql: pg.Client, em: EntityManager): Promise<void> {
  const queue = createRollUpQueue(em);
  await eventually("all bookings to be counted", async () => {
    await endRests(sql);
    await workOff(queue);
    return (await sql.query(BEHIND)).rowCount === 0;
  });
}
