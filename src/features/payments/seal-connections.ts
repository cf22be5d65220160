import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { SecretSeal } from "../../domain/secret-seal.ts";
import { sealContext } from "./payment-connections.ts";

const BATCH = 500;

/** Selects sealed secrets of all workspaces. Only workspaces with their own key have secrets. */
const READ = `
  select workspace_id::float8 as workspace, own_key, notice_secrets from payment_connection
  where workspace_id > $1 and own_key is not null order by workspace_id limit $2`;

/** Skips connections whose secrets were replaced or resealed since they were read. */
const WRITE = `
  update payment_connection set own_key = $4, notice_secrets = $5
  where workspace_id = $1 and own_key = $2 and notice_secrets = $3
  returning 1`;

interface Stored {
  readonly workspace: number;
  readonly own_key: string;
  readonly notice_secrets: string;
}

/**
 * Reseals account keys and signing secrets that were sealed with an earlier key.
 *
 * @returns number of resealed connections, and of connections that could not be decrypted
 */
export async function sealConnections(em: EntityManager, seal: SecretSeal) {
  const count = { sealed: 0, unopened: 0 };
  let last = 0;
  for (;;) {
    const rows = await runStatement<Stored>(em, READ, [last, BATCH]);
    for (const { workspace, own_key: key, notice_secrets: secrets } of rows) {
      if (seal.isCurrent(key) && seal.isCurrent(secrets)) continue;
      const contexts = [sealContext(workspace, "own_key"), sealContext(workspace, "notice_secrets")];
      const opened = [seal.open(key, contexts[0]!), seal.open(secrets, contexts[1]!)];
      if (opened.includes(undefined)) {
        count.unopened += 1;
        continue;
      }
      const sealed = opened.map((secret, i) => seal.seal(secret!, contexts[i]!));
      const values = [workspace, key, secrets, ...sealed];
      count.sealed += (await runStatement(em, WRITE, values)).length;
    }
    if (rows.length < BATCH) return count;
    last = rows.at(-1)!.workspace;
  }
}
