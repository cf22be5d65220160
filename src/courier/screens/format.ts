import type { Texts } from "../texts/en.ts";
import type { Conflict } from "../run/queue.ts";
import type { Visit } from "../run/shipment.ts";
import type { State } from "./state.ts";

const TIME = { hour: "numeric", minute: "2-digit" } as const;
const DAY = { weekday: "short", day: "numeric", month: "short" } as const;

/** Returns the window or the expected time of a visit, with the day unless it is today. Empty without both. */
export function timeText({ window, eta }: Visit, t: Texts, { language, run }: State, nowMs: number): string {
  if (window !== null) {
    const timeZone = window.time_zone;
    const range = format(language, { ...TIME, timeZone }).formatRange(new Date(window.start), new Date(window.end));
    return t.between(withDay(range, window.start, nowMs, { language, timeZone }));
  }
  if (eta === null) return "";
  const timeZone = run?.time_zone ?? "UTC";
  return t.expected(
    withDay(format(language, { ...TIME, timeZone }).format(new Date(eta)), eta, nowMs, { language, timeZone }),
  );
}

function withDay(
  text: string,
  time: string,
  nowMs: number,
  { language, timeZone }: { readonly language: string; readonly timeZone: string },
): string {
  const dayOf = (date: Date) => format(language, { ...DAY, timeZone }).format(date);
  const day = dayOf(new Date(time));
  return day === dayOf(new Date(nowMs)) ? text : `${text}, ${day}`;
}

/** Returns a time of day, such as `10:05`. */
export function clockText(time: string, { language, run }: State): string {
  return format(language, { ...TIME, timeZone: run?.time_zone }).format(new Date(time));
}

/** Returns why the service refused an act. */
export function refusalText({ code, message, metadata }: Conflict, t: Texts): string {
  const left = metadata?.["attempts_left"];
  const refusal = t.refusal[code] ?? message;
  return code === "PIN_WRONG" && left !== undefined ? `${refusal} ${t.pinAttempts(Number(left))}` : refusal;
}

const format = (language: string, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(localeFor(language), options);

/** Returns the device's locale if it has the language of the page, because it also knows the region's conventions. */
function localeFor(language: string): string {
  return navigator.languages.find((it) => it.startsWith(language)) ?? language;
}

const KM_PER_MILE = 1.609344;

/** Returns a distance in kilometers, or in miles in regions that use them. */
export function distanceText(km: number, language: string): string {
  const locale = localeFor(language);
  const isMiles = /-(US|GB)$/.test(locale);
  const [value, unit] = isMiles ? [km / KM_PER_MILE, "mile"] : [km, "kilometer"];
  const maximumFractionDigits = value < 10 ? 1 : 0;
  return new Intl.NumberFormat(locale, { style: "unit", unit, maximumFractionDigits }).format(value);
}
