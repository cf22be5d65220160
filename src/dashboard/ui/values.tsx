import { useEffect, useState } from "preact/hooks";
import { useTimeZone } from "../api/session.ts";
import { dateOf, moneyText, relativeText, timeText, type Instant } from "./format.ts";

/** An amount in major units, in the reader's locale, with its exact value and currency as title. */
export function Money(props: { readonly amount: number; readonly currency: string }) {
  const { amount, currency } = props;
  return (
    <data class="money" value={String(amount)} title={`${amount} ${currency}`}>
      {moneyText(amount, currency)}
    </data>
  );
}

/** Refresh of relative times, in milliseconds. */
const REFRESH_MS = 30_000;

/** The time that it is, about. */
export function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/**
 * A time: how long ago, with the exact time as title; with `exact`, the date and time of day, to the
 * second where that is asked for. It is in the workspace's time zone, on pages of one. Nothing stands for a
 * time that is not given.
 */
export function Time(props: {
  readonly at: Instant | undefined;
  readonly exact?: boolean | "second";
}) {
  const timeZone = useTimeZone();
  const now = useNow();
  if (props.at === undefined) return <>—</>;
  const date = dateOf(props.at);
  const iso = date.toISOString();
  const to = props.exact === "second" ? "second" : "minute";
  return (
    <time
      dateTime={iso}
      title={props.exact ? iso : `${timeText(date, "minute", timeZone)} (${iso})`}
    >
      {props.exact ? timeText(date, to, timeZone) : relativeText(date, now, timeZone)}
    </time>
  );
}
