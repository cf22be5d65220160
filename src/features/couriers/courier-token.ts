import { randomBytes } from "node:crypto";

/** Matches a token: the workspace's id in base 36, and 256 random bits. */
const TOKEN = /^([0-9a-z]{1,10})\.[A-Za-z0-9_-]{43}$/;

/**
 * Creates a token of a link or device. It contains the workspace, so that lookups read only that workspace's data.
 */
export function createCourierToken(workspace: number): string {
  return `${workspace.toString(36)}.${randomBytes(32).toString("base64url")}`;
}

/** Returns the workspace of a token. `undefined` if the token is malformed. */
export function workspaceOfToken(token: string): number | undefined {
  const [, workspace] = TOKEN.exec(token) ?? [];
  return workspace === undefined ? undefined : Number.parseInt(workspace, 36);
}
