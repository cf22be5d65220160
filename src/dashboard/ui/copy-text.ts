/**
 * Copies a text. Copies a selection on pages without https, where the clipboard API is missing.
 *
 * @returns false if the browser denies access
 */
export async function copyText(text: string): Promise<boolean> {
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
  // Use the open dialog, because text outside it cannot be selected.
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
