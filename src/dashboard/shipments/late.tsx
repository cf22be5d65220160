import { spanText } from "../ui/format.ts";
import "./shipments.css";

export interface Delay {
  /** Duration, such as "2 days". */
  readonly text: string;
  /** Whether it is at least a day. */
  readonly isLong: boolean;
}

const DAY_MS = 86_400_000;

/** Returns the time from a deadline until a later time. `undefined` if the deadline is not exceeded. */
export function delayOf(due: Date | undefined, at: Date): Delay | undefined {
  if (due === undefined || at <= due) return undefined;
  return { text: spanText(due, at), isLong: Number(at) - Number(due) >= DAY_MS };
}

/** Shows a delay, such as "Late 2 days". Only the time has a color: amber on the first day, red afterwards. */
export function Late({ delay: { text, isLong } }: { readonly delay: Delay }) {
  return (
    <>
      Late <span class={isLong ? "late long" : "late"}>{text}</span>
    </>
  );
}
