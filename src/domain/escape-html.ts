/** HTML of a text that somebody entered, whose direction is its own. */
export function isolatedHtml(text: string): string {
  return `<bdi>${escapeHtml(text)}</bdi>`;
}

/** Escapes text for HTML content and double-quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
