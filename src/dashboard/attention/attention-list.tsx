import { Fragment, type ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { Empty, Page, type Link } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { type AttentionAt, AttentionQuery } from "./attention-query.ts";
import "./attention.css";

/** What needs attention of one kind: how many, of which the first are named. */
export interface Kind<K, S> {
  readonly kind: K;
  readonly count: number;
  readonly subjects: readonly S[];
}

export interface AttentionItem {
  readonly isBad?: boolean;
  readonly says: ComponentChildren;
  readonly besides?: ComponentChildren;
  /** Where it is dealt with, and what of: the links of a page are told apart by that. */
  readonly link?: (Link & { readonly of?: string }) | undefined;
  readonly action?: ComponentChildren;
}

export function AttentionList<K extends number, S>(props: {
  /** What would be there, for when nothing is. */
  readonly otherwise: string;
  readonly kindsOf: (attention: AttentionAt) => readonly Kind<K, S>[];
  /** How one of a kind is shown; kinds that later services know are not. */
  readonly ofSubject: Readonly<Partial<Record<K, (subject: S) => AttentionItem>>>;
  /** How a kind is shown of which none is named. */
  readonly ofKind: (kind: Kind<K, S>) => AttentionItem | undefined;
  /** Where all of a kind are listed, of which there are so many more than are named. */
  readonly allOf: (kind: K, more: number) => Link | undefined;
}) {
  const query = useContext(AttentionQuery)!;
  const shown = (kind: Kind<K, S>) => {
    const ofSubject = props.ofSubject[kind.kind];
    const more = kind.count - kind.subjects.length;
    if (ofSubject === undefined || kind.subjects.length === 0) {
      const item = props.ofKind(kind);
      return item && <Item key={kind.kind} {...item} />;
    }
    const all = more > 0 && props.allOf(kind.kind, more);
    return (
      <Fragment key={kind.kind}>
        {kind.subjects.map((subject, i) => (
          <Item key={i} {...ofSubject(subject)} />
        ))}
        {all && (
          <li>
            <a class="more" href={all.href}>
              {all.label}
            </a>
          </li>
        )}
      </Fragment>
    );
  };
  return (
    <Page title="Needs attention">
      <QueryView query={query} quiet>
        {(attention) => {
          const kinds = attention && props.kindsOf(attention);
          if (kinds?.length === 0) {
            return <Empty title="Nothing needs attention">{props.otherwise}</Empty>;
          }
          return (
            kinds && (
              <ul class="attention-list" aria-label="Needs attention">
                {kinds.map(shown)}
              </ul>
            )
          );
        }}
      </QueryView>
    </Page>
  );
}

function Item({ isBad = false, says, besides, link, action }: AttentionItem) {
  return (
    <li class={isBad ? "bad" : undefined}>
      <span class="sign" aria-hidden="true" />
      <div>
        <p>{says}</p>
        {besides && <p class="minor">{besides}</p>}
      </div>
      {(link ?? action) !== undefined && (
        <div class="actions">
          {link && (
            <a class="button" href={link.href} aria-label={link.of && `${link.label} ${link.of}`}>
              {link.label}
            </a>
          )}
          {action}
        </div>
      )}
    </li>
  );
}
