import { CopyButton } from "./copy-button.tsx";

/** Text for a terminal or a program, to be copied. `what` names it: "command". */
export function Code(props: { readonly text: string; readonly what: string }) {
  return (
    <div class="code">
      <pre>{props.text}</pre>
      <CopyButton text={props.text} what={props.what} />
    </div>
  );
}
