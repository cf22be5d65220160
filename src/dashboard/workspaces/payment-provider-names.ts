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
