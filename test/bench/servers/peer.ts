import { hash } from "node:crypto";
import type { Account } from "../database.ts";
import type { Ports } from "../processes.ts";

/** Prints the listening port of a peer, which exits with the bench. */
export function announce(ports: Partial<Ports>): void {
  process.on("disconnect", () => process.exit());
  process.send!({ http: 0, grpc: 0, ...ports });
}

const sha256 = (text: string) => hash("sha256", text, "base64url");
const accounts = JSON.parse(process.env.ACCOUNTS!) as Account[];
/** Peers know all keys, by SHA-256 like the product. */
const workspaces = new Map(accounts.map(({ apiKey, workspace }) => [sha256(apiKey), workspace]));

/** Returns the workspace of an `Authorization` header's key. `undefined` if unknown. */
export function workspaceOf(authorization = ""): number | undefined {
  return workspaces.get(sha256(authorization.slice("Bearer ".length)));
}
