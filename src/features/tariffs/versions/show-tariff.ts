import type { EntityManager } from "../../../db/orm.ts";
import { runStatement } from "../../../db/statement.ts";
import { VERSION_IN_FORCE } from "./version-in-force.ts";

/** The published document in force, with its `version`; undefined while there is none. */
export async function showTariff(em: EntityManager): Promise<object | undefined> {
  const [inForce] = await runStatement<{ version: number; document: object }>(em.fork(), READ, []);
  return inForce === undefined ? undefined : { version: inForce.version, ...inForce.document };
}

const READ = `select version, document from tariff_version where version = ${VERSION_IN_FORCE}`;
