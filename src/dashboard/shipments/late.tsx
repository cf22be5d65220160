import { spanText } from "../ui/format.ts";
import "./shipments.css";

export interface Delay {
  /** Duration, such as "2 days". */
  readonly text: string;
  /** Whether it is at least a day. */
  readonly isLong: boolean;
}

const DAY_MS = 86_400_000;

/** Returns the delay at a time after a deadline. `undefined` before the deadline. */
export function delayOf(due: Date | undefined, at: Date): Delay | undefined {
  if (due === undefined || at <= due) return undefined;
  return { text: spanText(due, at), isLong: Number(at) - Number(due) >= DAY_MS };
}

/** Shows a delay, such as "Late 2 days". Only the duration is colored: amber below one day, red from one day. */
export function Late({ delay: { text, isLong } }: { readonly delay: Delay }) {
  return (
    <>
      Late <span class={isLong ? "late long" : "late"}>{text}</span>
    </>
  );
}
