import { copyText } from "./copy-text.ts";
import { toast } from "./toast.tsx";

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
      <code>{String(id)}</code> <CopyButton text={String(id)} what="id" />
    </>
  );
}
