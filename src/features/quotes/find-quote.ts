import { openQuote, type HeldQuote } from "../../domain/pricing/sealed-quote.ts";
import type { Fees } from "../../domain/pricing/tariff.ts";
import type { VersionFees } from "../tariffs/versions/version-fees.ts";
import type { QuoteKeys } from "./quote-keys.ts";

export interface NamedQuote {
  readonly id: string;
  readonly held: HeldQuote;
  /** The fees that its price is worked out by. */
  readonly fees: Fees;
}

export interface FindQuoteDeps {
  readonly quoteKeys: Pick<QuoteKeys, "byId">;
  readonly versionFees: VersionFees;
}

/**
 * Finds the quote that an id names.
 *
 * @returns undefined for what is none, alike for one of another workspace
 */
export async function findQuote(
  id: string,
  workspace: number,
  { quoteKeys, versionFees }: FindQuoteDeps,
): Promise<NamedQuote | undefined> {
  const held = openQuote(id, quoteKeys.byId);
  if (held?.workspace !== workspace) return undefined;
  // A database that was restored may not have the version any more.
  const fees = (await versionFees.of([held.tariffVersion])).get(held.tariffVersion);
  return fees && { id, held, fees };
}
