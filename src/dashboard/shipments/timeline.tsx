import type { ComponentChildren } from "preact";
import type { Instant } from "../ui/format.ts";
import { Time } from "../ui/values.tsx";
import "../webhooks/timeline.css";

/** Something that happened. */
export interface TimelineEntry {
  readonly key: string;
  readonly title: string;
  readonly at: Instant | undefined;
  /** Who, how, why. */
  readonly detail?: ComponentChildren;
}

/** What happened, in the order given. */
export function Timeline({ entries }: { readonly entries: readonly TimelineEntry[] }) {
  return (
    <ol class="timeline">
      {entries.map(({ key, title, at, detail }) => (
        <li key={key}>
          <span>{title}</span> <Time at={at} exact />
          {detail && <p class="minor">{detail}</p>}
        </li>
      ))}
    </ol>
  );
}
