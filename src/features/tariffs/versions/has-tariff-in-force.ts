import type { EntityManager } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import { VERSION_IN_FORCE } from "./version-in-force.ts";

/** Whether a tariff is in force now, by the database. */
export async function hasTariffInForce(em: EntityManager): Promise<boolean> {
  const [row] = await runStatement<{ found: boolean }>(em, FIND_TARIFF, []);
  return row!.found;
}

const FIND_TARIFF = `select ${VERSION_IN_FORCE} is not null as found`;
