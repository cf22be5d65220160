import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { numberText } from "../ui/format.ts";
import { Empty, Page, Section, type Link } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { type AttentionAt, AttentionQuery } from "./attention-query.ts";
import "./attention.css";

/** What needs attention of one kind: how many, of which the first are named. */
export interface Kind<K, S> {
  readonly kind: K;
  readonly count: number;
  readonly subjects: readonly S[];
}

/** How a kind is shown: as one group with what to do about it, and a row for each that is named. */
export interface Group<S> {
  readonly title: string;
  readonly isBad?: boolean;
  /** What it means, and what to do. */
  readonly besides: ComponentChildren;
  /** What the kind comes to besides its count, such as a sum of money. */
  readonly sum?: ComponentChildren;
  /** Acts on all that are named. */
  readonly action?: ComponentChildren;
  readonly row?: (subject: S) => Row;
  /** Where all of the kind are listed. */
  readonly all?: Link | undefined;
}

interface Row {
  /** What it is, and where it is dealt with. */
  readonly name: ComponentChildren;
  readonly href?: string | undefined;
  readonly note?: ComponentChildren;
  readonly action?: ComponentChildren;
}

export function AttentionList<K extends number, S>(props: {
  /** What would be there, for when nothing is. */
  readonly otherwise: string;
  readonly kindsOf: (attention: AttentionAt) => readonly Kind<K, S>[];
  /** How a kind is shown; kinds that later services know are not. */
  readonly groupOf: (kind: Kind<K, S>) => Group<S> | undefined;
}) {
  const query = useContext(AttentionQuery)!;
  return (
    <Page title="Needs attention">
      <QueryView query={query} quiet>
        {(attention) => {
          if (attention === undefined) return null;
          const kinds = props.kindsOf(attention);
          if (kinds.length === 0) {
            return <Empty title="Nothing needs attention">{props.otherwise}</Empty>;
          }
          return (
            <div class="stack">
              {kinds.map((kind) => {
                const group = props.groupOf(kind);
                return group && <KindSection key={kind.kind} {...kind} group={group} />;
              })}
            </div>
          );
        }}
      </QueryView>
    </Page>
  );
}

function KindSection<K, S>({ count, subjects, group }: Kind<K, S> & { readonly group: Group<S> }) {
  const { title, isBad = false, besides, sum, action, row, all } = group;
  const rows = row ? subjects.map(row) : [];
  return (
    <Section
      title={title}
      note={
        rows.length > 0 && (
          <>
            <span class={isBad ? "badge bad" : "badge attention"}>{numberText(count)}</span>
            {sum}
          </>
        )
      }
      actions={action}
    >
      <p class={rows.length > 0 ? "minor" : undefined}>{besides}</p>
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
      {all && (rows.length === 0 || count > rows.length) && <a href={all.href}>{all.label}</a>}
    </Section>
  );
}
