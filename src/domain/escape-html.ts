/** HTML of a text that somebody entered, whose direction is its own. */
export function isolatedHtml(text: string): string {
  return `<bdi>${escapeHtml(text)}</bdi>`;
}

/** Text as it stands in HTML, between tags or between double quotes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
