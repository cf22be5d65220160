import { hash } from "node:crypto";
import type { Account } from "../database.ts";
import type { Ports } from "../processes.ts";

/** Sends a peer's port to the bench. The peer exits when the bench disconnects. */
export function announce(ports: Partial<Ports>): void {
  process.on("disconnect", () => process.exit());
  process.send!({ http: 0, grpc: 0, ...ports });
}

const sha256 = (text: string) => hash("sha256", text, "base64url");
const accounts = JSON.parse(process.env.ACCOUNTS!) as Account[];
/** Workspace by hash of the key. Keys are hashed with SHA-256 as in the product, and all are loaded at startup. */
const workspaces = new Map(accounts.map(({ apiKey, workspace }) => [sha256(apiKey), workspace]));

const callerKeys = new Map(
  accounts.map(({ apiKey, workspace }) => [workspace, { last4: apiKey.slice(-4), name: null }]),
);

/** Returns the API key of a workspace as events store it. */
export function callerKeyOf(workspace: number): object | undefined {
  return callerKeys.get(workspace);
}

/** Returns the workspace that the key in an `Authorization` header belongs to. `undefined` if unknown. */
export function workspaceOf(authorization = ""): number | undefined {
  return workspaces.get(sha256(authorization.slice("Bearer ".length)));
}
