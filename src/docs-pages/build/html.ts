import hljs from "highlight.js/lib/common";
import protobuf from "highlight.js/lib/languages/protobuf";

hljs.registerLanguage("protobuf", protobuf);

/** Highlights code as HTML with `hljs-*` classes. Unknown languages stay plain. */
export function highlight(code: string, language: string): string {
  if (hljs.getLanguage(language) === undefined) return escapeHtml(code);
  return hljs.highlight(code, { language }).value;
}

/** Escapes text for HTML content and double-quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
