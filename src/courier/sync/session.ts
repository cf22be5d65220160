import { call, exclusively } from "./call.ts";
import { announceChange, type Session, transact } from "./database.ts";

/** Result of opening a courier's link. */
export type LinkResult = "opened" | "invalid" | "unreachable";

/**
 * Exchanges the token of a link for a session, which the browser keeps in a cookie. The queue is kept. The stored run
 * is deleted if it belongs to another courier.
 */
export function openLink(token: string): Promise<LinkResult> {
  return exclusively(async () => {
    // The browser can store the cookie even if the page receives no response, or is closed before it does.
    await transact("readwrite", async (tx) => tx.set("isOpening", true));
    const answer = await call("/c/session", { token });
    if (answer?.status === 403 && answer.body?.code !== undefined) return "invalid";
    const session = answer?.status === 200 ? (answer.body as unknown as Session | undefined) : undefined;
    if (session?.courier === undefined) return "unreachable";
    await transact("readwrite", async (tx) => {
      const before = await tx.get("session");
      if (before?.courier.id !== session.courier.id) tx.unset("run");
      tx.set("session", session);
      tx.unset("isOpening");
      tx.set("connection", "online");
    });
    announceChange();
    return "opened";
  });
}
