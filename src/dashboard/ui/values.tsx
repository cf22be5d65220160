import { useEffect, useState } from "preact/hooks";
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

/**
 * A time: how long ago, with the exact time as title; with `exact`, the date and time of day, to the
 * second where that is asked for. Nothing stands for a time that is not given.
 */
export function Time(props: {
  readonly at: Instant | undefined;
  readonly exact?: boolean | "second";
}) {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  if (props.at === undefined) return <>—</>;
  const date = dateOf(props.at);
  const iso = date.toISOString();
  const to = props.exact === "second" ? "second" : "minute";
  return (
    <time dateTime={iso} title={props.exact ? iso : `${timeText(date)} (${iso})`}>
      {props.exact ? timeText(date, to) : relativeText(date, now)}
    </time>
  );
}
