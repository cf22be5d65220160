import { PROVIDER_LIMITS, type RateLimit, type Verdict } from "../../domain/rate-limit.ts";
import { refuse } from "../../domain/refusal.ts";

/** Takes a call out of what is left of a limit, which has a name. */
export type TakeCall = (name: string, limit: RateLimit) => Verdict | Promise<Verdict>;

const TOO_MANY: Readonly<Record<keyof typeof PROVIDER_LIMITS, string>> = {
  account: "The workspace has had its payment account looked at too often",
  payments: "The workspace has had payments looked at too often",
  notices: "Too many notices come for the workspace",
};

/**
 * Takes one of what a workspace may do with payment providers.
 *
 * @throws Refusal RATE_LIMITED when none is left
 */
export async function assertFew(
  takeCall: TakeCall,
  of: keyof typeof PROVIDER_LIMITS,
  workspace: number,
): Promise<void> {
  const verdict = await takeCall(`provider ${of} of ${workspace}`, PROVIDER_LIMITS[of]);
  if (verdict.allowed) return;
  const text = `${TOO_MANY[of]}; try again in a moment.`;
  throw refuse("RATE_LIMITED", text, { retryAfterSeconds: verdict.resetSeconds });
}
