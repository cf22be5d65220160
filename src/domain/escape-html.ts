/** Returns user-supplied text as HTML, with its text direction isolated from the surrounding text. */
export function isolatedHtml(text: string): string {
  return `<bdi>${escapeHtml(text)}</bdi>`;
}

/** Escapes text for HTML content and double-quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
