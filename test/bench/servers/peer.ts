import { hash } from "node:crypto";
import type { Account } from "../database.ts";
import type { Ports } from "../processes.ts";

/** Says where a peer listens; it ends when the bench does. */
export function announce(ports: Partial<Ports>): void {
  process.on("disconnect", () => process.exit());
  process.send!({ http: 0, grpc: 0, ...ports });
}

const sha256 = (text: string) => hash("sha256", text, "base64url");
const accounts = JSON.parse(process.env.ACCOUNTS!) as Account[];
/** Peers know all keys, and as the product, only their SHA-256. */
const workspaces = new Map(accounts.map(({ apiKey, workspace }) => [sha256(apiKey), workspace]));

/** The workspace whose key an `Authorization` header carries; undefined if it is not known. */
export function workspaceOf(authorization = ""): number | undefined {
  return workspaces.get(sha256(authorization.slice("Bearer ".length)));
}
