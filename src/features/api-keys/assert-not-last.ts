import { refuse } from "../../domain/refusal.ts";
import { lastKeyThat } from "../credentials/last-key.ts";
import type { ApiKey } from "./api-key.entity.ts";

/**
 * Checks that a workspace can do without a key of full scope.
 *
 * @throws Refusal API_KEY_LAST
 */
export function assertNotLast(key: ApiKey, working: readonly ApiKey[]): void {
  if (key.scope !== "full") return;
  const which = lastKeyThat(
    key,
    working.filter(({ scope }) => scope === "full"),
  );
  if (which === undefined) return;
  const text = `This is the last key of full scope that ${which}; create another first.`;
  throw refuse("API_KEY_LAST", text, { subject: "api_key" });
}
