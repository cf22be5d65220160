import type { ComponentChildren } from "preact";
import { Button } from "../ui/button.tsx";
import { Page, type Link } from "../ui/page.tsx";
import "./print.css";

export function PrintPage(props: {
  readonly title: string;
  readonly up: Link;
  readonly children?: ComponentChildren;
  readonly sheets: ComponentChildren;
}) {
  return (
    <Page
      title={props.title}
      up={props.up}
      actions={
        <Button primary onClick={() => print()}>
          Print
        </Button>
      }
    >
      {props.children}
      <div class="sheets">{props.sheets}</div>
    </Page>
  );
}
