import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/**
 * A process that serves calls. Writes a heartbeat every 5 seconds and deletes its row at shutdown.
 * After a crash, the row is kept for a day.
 */
export const Replica = defineEntity({
  name: "Replica",
  properties: {
    id: p.uuid().primary(),
    hostName: p.text(),
    version: p.text(),
    nodeVersion: p.text(),
    startedAt: p.datetime(3),
    /** Time of the last heartbeat. Like `startedAt`, by the database's clock. */
    seenAt: p.datetime(3),
  },
  checks: [{ name: "replica_seen_after_start", expression: "seen_at >= started_at" }],
});

export type Replica = InferEntity<typeof Replica>;

const BEAT = `
  insert into replica (id, host_name, version, node_version, started_at, seen_at)
  values ($1, $2, $3, $4, now() - make_interval(secs => $5), now())
  on conflict (id) do update set seen_at = greatest(replica.started_at, now())`;

/**
 * Creates the heartbeat of this process for `GetHealth`. Both functions reject with errors of the database.
 *
 * @param version version of the service
 */
export function createReplicaHeartbeat(em: EntityManager, version: string) {
  const id = randomUUID();
  const startedMs = performance.now();
  return {
    async beat(): Promise<void> {
      const seconds = (performance.now() - startedMs) / 1_000;
      await runStatement(em, BEAT, [id, hostname(), version, process.versions.node, seconds]);
    },
    async end(): Promise<void> {
      await runStatement(em, "delete from replica where id = $1", [id]);
    },
  };
}
