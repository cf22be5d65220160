import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { Empty, Page, Section, type Link, QueryView } from "../ui/page.tsx";
import { Time } from "../ui/values.tsx";
import { type AttentionAt, AttentionQuery, cappedText } from "./attention-query.ts";
import "./attention.css";

/** Items of one kind that need attention: their number and the first few. */
export interface Kind<K, S> {
  readonly kind: K;
  readonly count: number;
  readonly subjects: readonly S[];
}

/** Presentation of a kind: a group with its remedy and a row per listed item. */
export interface Group<S> {
  readonly title: string;
  readonly isBad?: boolean;
  /** What this kind of issue means and how to resolve it. */
  readonly explanation: ComponentChildren;
  /** Additional total, such as an amount of money. */
  readonly sum?: ComponentChildren;
  /** Action for all listed items. */
  readonly action?: ComponentChildren;
  readonly row?: (subject: S) => Row;
  /** Custom content to show instead of rows. */
  readonly rows?: ComponentChildren;
  readonly all?: Link | undefined;
}

interface Row {
  /** Name, usually with a link to the page that resolves the item. */
  readonly name: ComponentChildren;
  readonly href?: string | undefined;
  readonly note?: ComponentChildren;
  readonly action?: ComponentChildren;
}

export function AttentionList<K extends number, S>(props: {
  /** Text shown when nothing needs attention. */
  readonly otherwise: string;
  readonly kindsOf: (attention: AttentionAt) => readonly Kind<K, S>[];
  /** Returns the presentation of a kind. Unknown kinds, from a newer service, are skipped. */
  readonly groupOf: (kind: Kind<K, S>) => Group<S> | undefined;
  /** Actions for selected items, above all groups. */
  readonly bar?: ComponentChildren;
}) {
  const loaded = useContext(AttentionQuery)!;
  // Other pages load only the counts.
  const query = loaded.data?.isWhole ? loaded : { ...loaded, data: undefined };
  return (
    <Page title="Needs attention">
      {props.bar}
      <QueryView query={query}>
        {(attention) => {
          if (attention === undefined) return null;
          const kinds = props.kindsOf(attention);
          if (kinds.length === 0) {
            return <Empty title="Nothing needs attention">{props.otherwise}</Empty>;
          }
          const groups = kinds.flatMap((kind) => {
            const group = props.groupOf(kind);
            return group ? [{ ...kind, group }] : [];
          });
          return (
            <>
              <div class="list-bar">
                <nav class="quick-days" aria-label="Groups">
                  {groups.map(({ kind, count, subjects, group }) => (
                    <a key={kind} href={`#${idOf(kind)}`}>
                      {group.title} {subjects.length > 0 && cappedText(count)}
                    </a>
                  ))}
                </nav>
              </div>
              <div class="stack">
                {groups.map((each) => (
                  <KindSection key={each.kind} {...each} />
                ))}
              </div>
            </>
          );
        }}
      </QueryView>
    </Page>
  );
}

const idOf = (kind: number) => `kind-${kind}`;

function KindSection<S>({ kind, count, subjects, group }: Kind<number, S> & { readonly group: Group<S> }) {
  const { title, isBad = false, explanation, sum, action, row, all, rows: listed } = group;
  const rows = row && listed === undefined ? subjects.map(row) : [];
  const isListed = listed !== undefined || rows.length > 0;
  return (
    <Section
      id={idOf(kind)}
      title={title}
      note={
        isListed && (
          <>
            <span class={isBad ? "badge bad" : "badge attention"}>{cappedText(count)}</span>
            {sum}
          </>
        )
      }
      actions={action}
    >
      <p class={isListed ? "minor" : undefined}>{explanation}</p>
      {rows.length > 0 && (
        <ul class="attention-list" aria-label={title}>
          {rows.map(({ name, href, note, action: own }, i) => (
            <li key={i}>
              <span>{href === undefined ? name : <a href={href}>{name}</a>}</span>
              {note && <span class="minor">{note}</span>}
              {own}
            </li>
          ))}
        </ul>
      )}
      {listed}
      {all && (!isListed || count > subjects.length) && <a href={all.href}>{all.label}</a>}
    </Section>
  );
}

/** A note about a time, such as `ends in 3 days`. */
export function TimeNote({ what, ...time }: Parameters<typeof Time>[0] & { readonly what: ComponentChildren }) {
  return (
    <>
      {what} <Time {...time} />
    </>
  );
}
