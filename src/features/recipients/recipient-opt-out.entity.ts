import { createHmac, hash } from "node:crypto";
import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { findOptOutSecret } from "../workspaces/installation.entity.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";

/** An email address that unsubscribed from a workspace's recipient emails. */
export const RecipientOptOut = defineEntity({
  name: "RecipientOptOut",
  primaryKeys: ["workspace", "emailHash"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary().updateRule("no action").deleteRule("no action"),
    /**
     * `hmac:` and the HMAC-SHA256 of the email's SHA-256 with the installation's secret. Without
     * the secret, the email can be neither read nor guessed. Earlier versions stored the SHA-256 in
     * base64url without a prefix. `convertOptOuts` replaces it.
     */
    emailHash: p.text().primary(),
    createdAt: p.datetime(3),
  },
});

export type RecipientOptOut = InferEntity<typeof RecipientOptOut>;

const PREFIX = "hmac:";

const hashOf = (email: string) => hash("sha256", email, "base64url");

const keyedHash = (secret: string, emailHash: string) =>
  PREFIX + createHmac("sha256", secret).update(emailHash).digest("base64url");

const INSERT = `
  insert into recipient_opt_out (workspace_id, email_hash, created_at) values ($1, $2, coalesce($3::timestamptz, now()))
  on conflict do nothing`;

/** @param email in lower case */
export async function insertOptOut(em: EntityManager, workspace: number, email: string): Promise<void> {
  const secret = await findOptOutSecret(em);
  await runStatement(em, INSERT, [workspace, keyedHash(secret, hashOf(email)), null]);
}

const FIND = "select from recipient_opt_out where workspace_id = $1 and email_hash in ($2, $3)";

/** @param email in lower case */
export async function hasOptedOut(em: EntityManager, workspace: number, email: string): Promise<boolean> {
  const unkeyed = hashOf(email);
  const keyed = keyedHash(await findOptOutSecret(em), unkeyed);
  return (await runStatement(em, FIND, [workspace, keyed, unkeyed])).length > 0;
}

const BATCH = 500;

const FIND_UNKEYED = `
  select workspace_id::float8 as workspace, email_hash as hash, created_at::text as "createdAt"
  from recipient_opt_out where email_hash not like '${PREFIX}%' limit ${BATCH}`;

const DELETE = "delete from recipient_opt_out where workspace_id = $1 and email_hash = $2";

interface UnkeyedRow {
  readonly workspace: number;
  readonly hash: string;
  readonly createdAt: string;
}

/**
 * Replaces hashes that were stored without the secret. Inserts the new rows before it deletes the
 * old ones, so that each opt-out is effective at all times.
 */
export async function convertOptOuts(em: EntityManager): Promise<void> {
  for (;;) {
    const rows = await runStatement<UnkeyedRow>(em, FIND_UNKEYED);
    if (rows.length === 0) return;
    const secret = await findOptOutSecret(em);
    for (const { workspace, hash: unkeyed, createdAt } of rows) {
      await runStatement(em, INSERT, [workspace, keyedHash(secret, unkeyed), createdAt]);
      await runStatement(em, DELETE, [workspace, unkeyed]);
    }
  }
}
