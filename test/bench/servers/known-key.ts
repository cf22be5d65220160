import { hashApiKey, isWellFormedApiKey } from "../../../src/domain/api-key.ts";

/** The peers know one key, as the product remembers those it has seen: by its SHA-256. */
const knownKeys = new Set([hashApiKey(process.env.API_KEY!)]);

/** Whether an `Authorization` header carries the key. */
export function carriesKnownKey(authorization: string | undefined): boolean {
  const key = authorization?.slice("Bearer ".length) ?? "";
  return isWellFormedApiKey(key) && knownKeys.has(hashApiKey(key));
}
