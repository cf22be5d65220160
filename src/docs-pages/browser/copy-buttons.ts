import { copyText } from "../../dashboard/parts/copy-text.ts";

/** How long a button says that it has copied, in milliseconds. */
const SAID_MS = 2_000;

/** Adds a button to every block of code, which copies its text without the last end of line. */
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
  button.addEventListener("click", () => {
    void copyText(block.querySelector("code")?.textContent ?? "").then((isCopied) => {
      button.textContent = isCopied ? "Copied" : "Select it";
      status.textContent = isCopied
        ? "Copied the example."
        : "The browser does not copy: select the text.";
      clearTimeout(timer);
      timer = setTimeout(() => {
        button.textContent = "Copy";
        status.textContent = "";
      }, SAID_MS);
    });
  });
  block.append(button, status);
}
