import hljs from "highlight.js/lib/common";
import protobuf from "highlight.js/lib/languages/protobuf";

hljs.registerLanguage("protobuf", protobuf);

/**
 * Code as HTML in which `span`s of the classes `hljs-*` mark its parts, of which the stylesheet colours those
 * that the guides' languages have; plain in an unknown language.
 */
export function highlight(code: string, language: string): string {
  if (hljs.getLanguage(language) === undefined) return escapeHtml(code);
  return hljs.highlight(code, { language }).value;
}

/** Text as it stands in HTML, between tags or between double quotes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
