import { toast } from "./toast.tsx";

/** Copies a text. `what` names it: "reference" makes "Copy the reference". */
export function CopyButton(props: { readonly text: string; readonly what: string }) {
  const copy = async () => {
    const isCopied = await copyText(props.text);
    toast(isCopied ? `Copied the ${props.what}.` : "The browser does not copy: select the text.");
  };
  return (
    <button
      type="button"
      class="copy button quiet"
      title={`Copy the ${props.what}`}
      onClick={() => void copy()}
    >
      <span class="visually-hidden">Copy the {props.what}</span>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <path
          d="M5.5 5.5V2.5h8v8h-3M2.5 5.5h8v8h-8z"
          fill="none"
          stroke="currentColor"
          stroke-width="1.3"
        />
      </svg>
    </button>
  );
}

/**
 * Browsers have a clipboard only over https and on this machine; elsewhere a selection is copied.
 *
 * @returns false when the browser does not allow it
 */
async function copyText(text: string): Promise<boolean> {
  if (!window.isSecureContext) return copySelected(text);
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

function copySelected(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  // Within an open dialog, since nothing outside of it can be selected.
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
