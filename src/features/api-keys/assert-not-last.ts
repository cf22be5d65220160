import { refuse, type Refusal } from "../../domain/refusal.ts";
import type { ApiKey } from "./api-key.entity.ts";

/**
 * Checks that a workspace can do without a key of full scope: without one that works it could not make
 * another, nor for long without one that lasts.
 *
 * @throws Refusal API_KEY_LAST
 */
export function assertNotLast(key: ApiKey, working: readonly ApiKey[]): void {
  if (key.scope !== "full") return;
  const others = working.filter((other) => other !== key && other.scope === "full");
  if (key.endsAt && others.length === 0) throw lastKeyError("works");
  if (!key.endsAt && others.every(({ endsAt }) => endsAt)) throw lastKeyError("is not to end");
}

function lastKeyError(which: string): Refusal {
  const text = `This is the last key of full scope that ${which}; create another first.`;
  return refuse("API_KEY_LAST", text, { subject: "api_key" });
}
