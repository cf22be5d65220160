import { hash } from "node:crypto";
import type { Ports } from "../processes.ts";

/** Says where a peer listens; it ends when the bench does. */
export function announce(ports: Partial<Ports>): void {
  process.on("disconnect", () => process.exit());
  process.send!({ http: 0, grpc: 0, ...ports });
}

const sha256 = (text: string) => hash("sha256", text, "base64url");
/** Peers know one key, and as the product, only its SHA-256. */
const knownKeys = new Set([sha256(process.env.API_KEY!)]);

/** Whether an `Authorization` header carries the key. */
export function carriesKnownKey(authorization = ""): boolean {
  return knownKeys.has(sha256(authorization.slice("Bearer ".length)));
}
