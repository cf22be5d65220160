import { copyText } from "../../dashboard/ui/copy-text.ts";

/** Time for which a button confirms a copy, in milliseconds. */
const SHOWN_MS = 2_000;

/** Adds a copy button to every code block. The copied text has no trailing line break. */
export function addCopyButtons(): void {
  for (const block of document.querySelectorAll(".code")) addCopyButton(block);
}

function addCopyButton(block: Element): void {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button copy-code";
  button.textContent = "Copy";
  const status = document.createElement("span");
  status.className = "visually-hidden";
  status.role = "status";
  let timer: ReturnType<typeof setTimeout>;

  function announce(onButton: string, toReader: string): void {
    button.textContent = onButton;
    status.textContent = toReader;
  }

  async function copy(): Promise<void> {
    const isCopied = await copyText(block.querySelector("code")?.textContent ?? "");
    if (isCopied) announce("Copied", "Copied the example.");
    else announce("Select it", "The browser does not copy: select the text.");
    clearTimeout(timer);
    timer = setTimeout(() => announce("Copy", ""), SHOWN_MS);
  }

  button.addEventListener("click", () => void copy());
  block.append(button, status);
}
