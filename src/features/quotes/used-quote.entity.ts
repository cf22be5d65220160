import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import type { EntityManager } from "../../db/orm.ts";
import { deleteOldest } from "../../db/statement.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { OPENS_HOURS } from "./quote-keys.ts";

/**
 * A quote that was booked. The primary key ensures that a quote is booked only once.
 *
 * A unique index on shipments would also slow bookings without a quote and take long to build on a large table. Rows
 * are kept until the quote can no longer be decrypted, because quotes do not expire while a test clock is frozen.
 */
export const UsedQuote = defineEntity({
  name: "UsedQuote",
  primaryKeys: ["workspace", "quoteId"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    quoteId: p.text().primary(),
    reference: p.text(),
    /** Real time of the booking, even if a test clock is used. */
    usedAt: p.datetime(3).index("used_quote_by_age"),
  },
});

export type UsedQuote = InferEntity<typeof UsedQuote>;

/** Retention of a used quote, in hours. Includes a margin because its key may be deleted late. */
const KEPT_HOURS = OPENS_HOURS + 12;

/**
 * Deletes used quotes that were booked more than four days ago by the database's clock.
 *
 * @returns the number of deleted rows
 */
export function purgeUsedQuotes(em: EntityManager): Promise<number> {
  return deleteOldest(em, "used_quote", "used_at", `now() - interval '${KEPT_HOURS} hours'`, []);
}
