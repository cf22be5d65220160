import { useEffect, useReducer } from "preact/hooks";
import { useTimeZone } from "../api/session.ts";
import { dateOf, moneyText, relativeText, timeText, type Instant } from "./format.ts";

/** Shows an amount in major units for the browser's locale, with the exact value and currency as title. */
export function Money(props: { readonly amount: number; readonly currency: string }) {
  const { amount, currency } = props;
  return (
    <data class="money" value={String(amount)} title={`${amount} ${currency}`}>
      {moneyText(amount, currency)}
    </data>
  );
}

/** Refresh interval of relative times, in milliseconds. */
const REFRESH_MS = 30_000;

/** Returns the current time. Renders the component periodically. */
export function useNow(): Date {
  const [, refresh] = useReducer<number, void>((count) => count + 1, 0);
  useEffect(() => {
    const timer = setInterval(refresh, REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  return new Date();
}

/**
 * Shows a relative time, with the exact time as title. With `exact`, shows the date and time of day, optionally to
 * the second. Uses the workspace's time zone on workspace pages. Empty without a time.
 */
export function Time(props: { readonly at: Instant | undefined; readonly exact?: boolean | "second" }) {
  const timeZone = useTimeZone();
  const now = useNow();
  if (props.at === undefined) return <>—</>;
  const date = dateOf(props.at);
  const iso = date.toISOString();
  const to = props.exact === "second" ? "second" : "minute";
  return (
    <time dateTime={iso} title={props.exact ? iso : `${timeText(date, "minute", timeZone)} (${iso})`}>
      {props.exact ? timeText(date, to, timeZone) : relativeText(date, now, timeZone)}
    </time>
  );
}
