import { createHash } from "node:crypto";
import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** An email that has unsubscribed from a workspace's recipient emails. */
export const RecipientOptOut = defineEntity({
  name: "RecipientOptOut",
  tableName: "recipient_opt_out",
  primaryKeys: ["workspace", "emailHash"],
  properties: {
    workspace: () =>
      p.manyToOne(Workspace).mapToPk().primary().updateRule("no action").deleteRule("no action"),
    /** SHA-256 of the email in lower case, in base64url, so that no address outlives its shipments here. */
    emailHash: p.text().primary(),
    createdAt: p.datetime(3),
  },
});

export type RecipientOptOut = InferEntity<typeof RecipientOptOut>;

const hashOf = (email: string) => createHash("sha256").update(email).digest("base64url");

const INSERT = `
  insert into recipient_opt_out (workspace_id, email_hash, created_at) values ($1, $2, now())
  on conflict do nothing`;

/** @param email in lower case */
export async function insertOptOut(
  em: EntityManager,
  workspace: number,
  email: string,
): Promise<void> {
  await runStatement(em, INSERT, [workspace, hashOf(email)]);
}

const FIND = "select from recipient_opt_out where workspace_id = $1 and email_hash = $2";

/** @param email in lower case */
export async function hasOptedOut(
  em: EntityManager,
  workspace: number,
  email: string,
): Promise<boolean> {
  return (await runStatement(em, FIND, [workspace, hashOf(email)])).length > 0;
}
