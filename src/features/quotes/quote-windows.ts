import { withWindowFee, type Pricing, type Quote, type Route } from "../../domain/pricing/pricing.ts";
import { decideRoute } from "../../domain/pricing/windows.ts";
import { refuseAny } from "../../domain/refusal.ts";
import { NO_WINDOWS, type WindowsDecision } from "../../domain/schedule/decide-windows.ts";
import { windowsOf } from "../tariffs/versions/window-message.ts";

export interface QuotedWindows extends Pick<WindowsDecision, "windows"> {
  readonly quote: Quote;
}

/**
 * Adds the fees of the requested windows to the price of a route. A quote for an uncovered route is
 * returned unchanged.
 *
 * @throws Refusal WINDOW_INVALID, OUTSIDE_HOURS, CUT_OFF_PASSED, TOO_SOON, TOO_FAR_AHEAD, with
 * alternatives in the facts
 */
export function quoteWindows(
  pricing: Pricing,
  requested: {
    readonly quoted: Quote;
    readonly route: Route;
    readonly request: Parameters<typeof windowsOf>[0];
  },
  nowMs: number,
): QuotedWindows {
  const { quoted, route, request } = requested;
  if (!quoted.covered) return { quote: quoted, windows: NO_WINDOWS.windows };
  const decision = decideRoute(pricing, route, { windows: windowsOf(request) }, nowMs);
  if (decision === NO_WINDOWS) return { quote: quoted, windows: decision.windows };
  const { violations, facts, windows, feeMinor } = decision;
  refuseAny(violations, { facts });
  return { quote: withWindowFee(quoted, feeMinor), windows };
}
