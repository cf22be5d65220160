import { defineEntity, p } from "@mikro-orm/core";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** Identifies this database among those that share a provider account. The migration creates its only row. */
export const Installation = defineEntity({
  name: "Installation",
  tableName: "installation",
  properties: { id: p.text().primary() },
});

export async function findInstallation(em: EntityManager): Promise<string> {
  const [row] = await runStatement<{ id: string }>(em, "select id from installation");
  return row!.id;
}
