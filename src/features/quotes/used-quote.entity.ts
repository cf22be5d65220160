import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { EntityManager } from "../../db/orm.ts";
import { deleteOldest } from "../../db/statement.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { OPENS_HOURS } from "./quote-keys.ts";

/**
 * A booked quote. Its primary key ensures that a quote is booked once. A unique index of shipments would also be
 * updated for bookings without a quote and take long to build on large tables. Kept longer than any key opens the
 * quote, because a quote does not expire while a test clock is frozen.
 */
export const UsedQuote = defineEntity({
  name: "UsedQuote",
  tableName: "used_quote",
  primaryKeys: ["workspace", "quoteId"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    quoteId: p.text().primary(),
    reference: p.text(),
    /** In real time, also with a test clock. */
    usedAt: p.datetime(3).index("used_quote_by_age"),
  },
});

export type UsedQuote = InferEntity<typeof UsedQuote>;

/** Retention of a booked quote: until its key is deleted, which may be late. */
const KEPT_HOURS = OPENS_HOURS + 12;

/**
 * Deletes quotes that were booked more than four days ago by the database's clock.
 *
 * @returns the number of deleted quotes
 */
export function purgeUsedQuotes(em: EntityManager): Promise<number> {
  return deleteOldest(em, "used_quote", "used_at", `now() - interval '${KEPT_HOURS} hours'`, []);
}
