import type { EntityManager } from "../../db/orm.ts";
import { TariffVersion } from "./tariff.entity.ts";

/** The published document in force, with its `version`; undefined while there is none. */
export async function showTariff(em: EntityManager): Promise<object | undefined> {
  const [inForce] = await em
    .fork()
    .findAll(TariffVersion, { orderBy: { version: "desc" }, limit: 1 });
  return inForce === undefined ? undefined : { version: inForce.version, ...inForce.document };
}
