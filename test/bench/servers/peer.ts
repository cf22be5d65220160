import { createHash } from "node:crypto";
import type { Ports } from "../processes.ts";

/** Says where a peer listens; it ends when the bench does. */
export function announce(ports: Partial<Ports>): void {
  process.on("disconnect", () => process.exit());
  process.send!({ http: 0, grpc: 0, ...ports });
}

/** Peers know one key, and as the product, only its SHA-256. */
const knownKeys = new Set([sha256(process.env.API_KEY!)]);

/** Whether an `Authorization` header carries the key. */
export function carriesKnownKey(authorization: string | undefined): boolean {
  return (
    authorization !== undefined && knownKeys.has(sha256(authorization.slice("Bearer ".length)))
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
