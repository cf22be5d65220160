import { openQuote, type QuoteTerms } from "../../domain/pricing/sealed-quote.ts";
import type { Fees } from "../../domain/pricing/tariff.ts";
import type { VersionFees } from "../tariffs/versions/version-fees.ts";
import type { QuoteKeys } from "./quote-keys.ts";

export interface NamedQuote {
  readonly id: string;
  readonly terms: QuoteTerms;
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
  const terms = openQuote(id, quoteKeys.byId);
  if (terms?.workspace !== workspace) return undefined;
  // A database restored from a backup may lack the version.
  const fees = (await versionFees.of([terms.tariffVersion])).get(terms.tariffVersion);
  return fees && { id, terms, fees };
}
