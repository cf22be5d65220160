import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/**
 * A process that serves calls. It writes every 5 seconds that it is there, and deletes its row when it
 * ends in order; what a killed one has left is kept for a day.
 */
export const Replica = defineEntity({
  name: "Replica",
  tableName: "replica",
  properties: {
    /** Made up by the process. */
    id: p.uuid().primary(),
    hostName: p.text(),
    /** Of the service. */
    version: p.text(),
    nodeVersion: p.text(),
    startedAt: p.datetime(3),
    /** By the database's clock, as is `startedAt`. */
    seenAt: p.datetime(3),
  },
  checks: [{ name: "replica_seen_after_start", expression: "seen_at >= started_at" }],
});

export type Replica = InferEntity<typeof Replica>;
