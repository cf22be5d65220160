import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** Whether a tariff is in force now, by the database. */
export async function hasTariffInForce(em: EntityManager): Promise<boolean> {
  const [row] = await runStatement<{ found: boolean }>(em, FIND_TARIFF, []);
  return row!.found;
}

const FIND_TARIFF = `
  select exists (
    select from tariff_version where effective_at <= now() and called_off_at is null) as found`;
