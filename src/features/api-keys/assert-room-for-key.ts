import { MAX_API_KEYS, MAX_WORKING_API_KEYS } from "../../domain/limits.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import type { ApiKey } from "./api-key.entity.ts";

/**
 * Checks that a workspace may have one more key.
 *
 * @param others the keys that are to work beside the new one, with their ends
 * @throws Refusal API_KEY_LIMIT when `MAX_API_KEYS` of them are not to end, or `MAX_WORKING_API_KEYS`
 * work in all
 */
export function assertRoomForKey(others: readonly Pick<ApiKey, "endsAt">[]): void {
  const lasting = others.filter(({ endsAt }) => !endsAt).length;
  if (lasting >= MAX_API_KEYS) {
    throw limitError(`The workspace has ${MAX_API_KEYS} keys, and no more fit: revoke one first.`);
  }
  if (others.length >= MAX_WORKING_API_KEYS) {
    throw limitError(
      `The workspace has ${MAX_WORKING_API_KEYS} keys that work, with those that are to end, ` +
        "and no more fit: revoke one first.",
    );
  }
}

function limitError(text: string): Refusal {
  return refuse("API_KEY_LIMIT", text, { subject: "api_key" });
}
