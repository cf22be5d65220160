import { defineEntity, p } from "@mikro-orm/core";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** Identifies this database among the databases that share a provider account. A migration creates the only row. */
export const Installation = defineEntity({
  name: "Installation",
  properties: {
    id: p.text().primary(),
    /** HMAC key for recipients' opt-outs: 32 random bytes in base64url. Never changes. */
    optOutSecret: p.text(),
  },
});

export async function findInstallation(em: EntityManager): Promise<string> {
  const [row] = await runStatement<{ id: string }>(em, "select id from installation");
  return row!.id;
}

export async function findOptOutSecret(em: EntityManager): Promise<string> {
  const sql = "select opt_out_secret as secret from installation";
  const [row] = await runStatement<{ secret: string }>(em, sql);
  return row!.secret;
}
