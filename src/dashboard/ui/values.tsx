import { useEffect, useReducer } from "preact/hooks";
import { useTimeZone } from "../api/session.ts";
import { dateOf, moneyText, relativeText, timeText, type Instant } from "./format.ts";
import { copyText } from "./copy-text.ts";
import { toast } from "./toast.tsx";

/** Shows an amount in major units for the browser's locale, with the exact value and currency as title. */
export function Money({ amount, currency }: { readonly amount: number; readonly currency: string }) {
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

/** A phone number that can be called. */
export function Phone({ number }: { readonly number: string | undefined }) {
  return number ? <a href={`tel:${number}`}>{number}</a> : null;
}

/** A button that copies a text. `what` names the text: "reference" gives the label "Copy reference". */
export function CopyButton(props: { readonly text: string; readonly what: string }) {
  const copy = async () => {
    const isCopied = await copyText(props.text);
    toast(isCopied ? `Copied the ${props.what}.` : "The browser blocked copying. Select the text instead.");
  };
  return (
    <button type="button" class="copy button quiet" title={`Copy ${props.what}`} onClick={() => void copy()}>
      <span class="visually-hidden">Copy {props.what}</span>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <path d="M5.5 5.5V2.5h8v8h-3M2.5 5.5h8v8h-8z" fill="none" stroke="currentColor" stroke-width="1.3" />
      </svg>
    </button>
  );
}

export function Code(props: { readonly text: string; readonly what: string }) {
  return (
    <div class="code">
      <pre>{props.text}</pre>
      <CopyButton {...props} />
    </div>
  );
}

export function Id({ id }: { readonly id: string | bigint }) {
  return (
    <>
      <code>{String(id)}</code> <CopyButton text={String(id)} what="ID" />
    </>
  );
}
