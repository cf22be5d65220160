import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** Says that this process is there, for `GetHealth`. */
export interface ReplicaHeartbeat {
  /** Says it once. Rejects with the database's error. */
  beat(): Promise<void>;
  /** Says that the process ends. Rejects with the database's error. */
  end(): Promise<void>;
}

const BEAT = `
  insert into replica (id, host_name, version, node_version, started_at, seen_at)
  values ($1, $2, $3, $4, now() - make_interval(secs => $5), now())
  on conflict (id) do update set seen_at = greatest(replica.started_at, now())`;

/**
 * Builds the heartbeat of one process.
 *
 * @param version of the service
 */
export function createReplicaHeartbeat(em: EntityManager, version: string): ReplicaHeartbeat {
  const id = randomUUID();
  const startedMs = performance.now();
  return {
    async beat() {
      const seconds = (performance.now() - startedMs) / 1_000;
      const values = [id, hostname(), version, process.versions.node, seconds];
      await runStatement(em.fork(), BEAT, values);
    },
    async end() {
      await runStatement(em.fork(), "delete from replica where id = $1", [id]);
    },
  };
}
