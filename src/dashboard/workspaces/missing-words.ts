/** Texts for Stripe's requirements by name prefix. The first match applies. */
const WORDS: readonly (readonly [begins: string, words: string])[] = [
  ["external_account", "A bank account to pay out to"],
  ["tos_acceptance", "Your agreement to Stripe’s terms"],
  ["settings.payments.statement_descriptor", "Name on customers’ bank statements"],
  ["business_type", "Kind of business"],
  ["business_profile.url", "The business’s website"],
  ["business_profile.support", "Customer contact of the business"],
  ["business_profile", "Product or service of the business"],
  ["company.verification", "Company documents"],
  ["company", "Company details"],
  ["documents", "Company documents"],
  ["owners", "Owners of the business"],
  ["directors", "Directors of the business"],
  ["executives", "Directors of the business"],
  ["representative", "Representative of the business"],
  ["individual.verification", "An identity document"],
  ["individual", "Details of the sole proprietor"],
  ["person", "Details of owners and directors"],
];

/**
 * Returns texts for Stripe's missing requirements, without duplicates.
 *
 * @param missing names from Stripe, such as `business_profile.mcc`
 */
export function missingWords(missing: readonly string[]): readonly string[] {
  return [...new Set(missing.map(wordsOf))];
}

function wordsOf(name: string): string {
  const known = WORDS.find(([begins]) => name.startsWith(begins));
  if (known !== undefined) return known[1];
  const words = name.replaceAll(/[._]/g, " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/** Display names of payment providers, by their API names. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["manual", "Manual"],
  ["stripe", "Stripe"],
  ["test", "Test"],
]);

/** Returns a payment provider's display name, or its API name if unknown. */
export function providerName(provider: string): string {
  return NAMES.get(provider) ?? provider;
}
