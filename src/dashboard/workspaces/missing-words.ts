/** What Stripe asks for, by how its names for it begin; the first that fits counts. */
const WORDS: readonly (readonly [begins: string, words: string])[] = [
  ["external_account", "A bank account to pay out to"],
  ["tos_acceptance", "Your agreement to Stripe’s terms"],
  ["settings.payments.statement_descriptor", "What customers read on their bank’s statement"],
  ["business_type", "What kind of business it is"],
  ["business_profile.url", "The business’s website"],
  ["business_profile.support", "How customers reach the business"],
  ["business_profile", "What the business sells"],
  ["company.verification", "Documents of the company"],
  ["company", "Particulars of the company"],
  ["documents", "Documents of the company"],
  ["owners", "Who owns the business"],
  ["directors", "Who directs the business"],
  ["executives", "Who directs the business"],
  ["representative", "Who represents the business"],
  ["individual.verification", "An identity document"],
  ["individual", "Particulars of the person who does business"],
  ["person", "Particulars of people who own or direct the business"],
];

/**
 * What Stripe still has to know, in words for people, each once.
 *
 * @param missing in Stripe's own names, such as `business_profile.mcc`
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

/** What payment providers are called, by the names that the API gives them. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["manual", "Manual"],
  ["stripe", "Stripe"],
  ["test", "Test"],
]);

/** What a payment provider is called; its own name when that is not known here. */
export function providerName(provider: string): string {
  return NAMES.get(provider) ?? provider;
}
