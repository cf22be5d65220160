/**
 * Copies a text. Browsers have a clipboard only over https and on this machine; elsewhere a selection
 * is copied.
 *
 * @returns false when the browser does not allow it
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
  // Within an open dialog, since nothing outside of it can be selected.
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
