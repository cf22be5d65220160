import { openQuote, type HeldQuote } from "../../domain/pricing/sealed-quote.ts";
import type { Fees } from "../../domain/pricing/tariff.ts";
import type { VersionFees } from "../tariffs/versions/version-fees.ts";
import type { QuoteKeys } from "./quote-keys.ts";

export interface NamedQuote {
  readonly id: string;
  readonly held: HeldQuote;
  readonly fees: Fees;
}

export interface FindQuoteDeps {
  readonly quoteKeys: Pick<QuoteKeys, "byId">;
  readonly versionFees: VersionFees;
}

/**
 * Finds a quote by id.
 *
 * @returns `undefined` if the quote is invalid or belongs to another workspace
 */
export async function findQuote(
  id: string,
  workspace: number,
  { quoteKeys, versionFees }: FindQuoteDeps,
): Promise<NamedQuote | undefined> {
  const held = openQuote(id, quoteKeys.byId);
  if (held?.workspace !== workspace) return undefined;
  // A database restored from a backup may lack the version.
  const fees = (await versionFees.of([held.tariffVersion])).get(held.tariffVersion);
  return fees && { id, held, fees };
}
