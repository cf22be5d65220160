import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { Empty, Page } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { type AttentionAt, AttentionQuery } from "./attention-query.ts";
import "./attention.css";

export function AttentionList(props: {
  /** What would be there, for when nothing is. */
  readonly otherwise: string;
  readonly itemsOf: (attention: AttentionAt) => readonly ComponentChildren[];
}) {
  const query = useContext(AttentionQuery)!;
  return (
    <Page title="Needs attention">
      <QueryView query={query} quiet>
        {(attention) => {
          const items = attention && props.itemsOf(attention);
          if (items?.length === 0) {
            return <Empty title="Nothing needs attention">{props.otherwise}</Empty>;
          }
          return (
            items && (
              <ul class="attention-list" aria-label="Needs attention">
                {items}
              </ul>
            )
          );
        }}
      </QueryView>
    </Page>
  );
}

export function AttentionItem(props: {
  readonly bad?: boolean;
  readonly says: ComponentChildren;
  readonly besides?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <li class={props.bad ? "bad" : undefined}>
      <span class="sign" aria-hidden="true" />
      <div>
        <p>{props.says}</p>
        {props.besides && <p class="minor">{props.besides}</p>}
      </div>
      {props.children && <div class="actions">{props.children}</div>}
    </li>
  );
}

/** The way to all of a kind, of which more are to be done than are named. */
export function MoreItems(props: { readonly href: string; readonly children: ComponentChildren }) {
  return (
    <li>
      <a class="more" href={props.href}>
        {props.children}
      </a>
    </li>
  );
}
