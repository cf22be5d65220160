import type pg from "pg";
import type { LeasedQueue } from "../../src/db/leased-queue.ts";
import type { EntityManager } from "../../src/db/orm.ts";
import { createRollUpQueue } from "../../src/features/reports/roll-up-bookings.ts";
import { createCustomerRollUpQueue } from "../../src/features/reports/roll-up-customers.ts";
import { eventually } from "./eventually.ts";
import { workOff } from "./work-off.ts";

const TABLES = ["booking_roll_up", "customer_roll_up"] as const;

/** Ends the pause between roll-ups, so that the background counts every workspace at once. */
export async function endRests(sql: pg.Client): Promise<void> {
  for (const table of TABLES) await sql.query(`update ${table} set rest_until = '-infinity'`);
}

/** Makes the background count a workspace from the beginning, as after inserts without events. */
export async function restartRollUps(sql: pg.Client, workspace: number): Promise<void> {
  for (const table of TABLES) await sql.query(`delete from ${table} where workspace_id = $1`, [workspace]);
}

/** Rolls up bookings by day, as the background work does, until all are counted. */
export function countBookings(sql: pg.Client, em: EntityManager): Promise<void> {
  return countAll(sql, createRollUpQueue(em), "workspace.twin_of is null");
}

/** Like `countBookings`, but counts the figures by which customers are sorted. */
export function countCustomers(sql: pg.Client, em: EntityManager): Promise<void> {
  return countAll(sql, createCustomerRollUpQueue(em), "true");
}

async function countAll(sql: pg.Client, queue: LeasedQueue, workspaces: string): Promise<void> {
  const behind = `
    select from feed left join ${queue.name.slice(0, -1)} as counted using (workspace_id)
      join workspace on workspace.id = feed.workspace_id and ${workspaces}
    where counted is null or counted.position < feed.position or counted.fill_before is not null`;
  await eventually("all bookings to be counted", async () => {
    await endRests(sql);
    await workOff(queue);
    return (await sql.query(behind)).rowCount === 0;
  });
}
