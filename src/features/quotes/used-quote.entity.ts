import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { EntityManager } from "../../db/orm.ts";
import { deleteOldest } from "../../db/statement.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { OPENS_HOURS } from "./quote-keys.ts";

/**
 * A quote that was booked. Its key is what makes one booking of one quote: an index of shipments would be
 * written for those without a quote too, and take long to make where there are many. Kept for longer
 * than any key opens the quote: by a test clock that stands still, a quote does not expire.
 */
export const UsedQuote = defineEntity({
  name: "UsedQuote",
  tableName: "used_quote",
  primaryKeys: ["workspace", "quoteId"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    quoteId: p.text().primary(),
    reference: p.text(),
    /** In real time, also where a test clock stands. */
    usedAt: p.datetime(3).index("used_quote_by_age"),
  },
});

export type UsedQuote = InferEntity<typeof UsedQuote>;

/** How long a quote that was booked is kept: until its key is gone, whose deletion may be late. */
const KEPT_HOURS = OPENS_HOURS + 12;

/**
 * Deletes quotes that were booked more than four days ago, by the database's clock.
 *
 * @returns how many it deleted
 */
export function purgeUsedQuotes(em: EntityManager): Promise<number> {
  return deleteOldest(em, "used_quote", "used_at", `now() - interval '${KEPT_HOURS} hours'`, []);
}
