import { refuse } from "../domain/refusal.ts";
import type { CallHeaders } from "./call-headers.ts";

/**
 * A browser sends a session's cookie whoever makes the call, so that a call with one counts only if it
 * comes from a page of this site: by Fetch Metadata, or by its origin where a browser has none of that.
 *
 * @throws Refusal CROSS_SITE
 */
export function assertSameSite({ fetchSite, origin, host }: CallHeaders): void {
  if (fetchSite === "same-origin") return;
  const isOwn = origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
  if (fetchSite === undefined && isOwn) return;
  throw refuse("CROSS_SITE", "Calls with a session are taken from pages of this site alone.");
}
