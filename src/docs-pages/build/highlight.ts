import hljs from "highlight.js/lib/common";
import protobuf from "highlight.js/lib/languages/protobuf";
import { escapeHtml } from "../../domain/escape-html.ts";

hljs.registerLanguage("protobuf", protobuf);

/** Highlights code as HTML with `hljs-*` classes. Code in unknown languages is not highlighted. */
export function highlight(code: string, language: string): string {
  if (hljs.getLanguage(language) === undefined) return escapeHtml(code);
  return hljs.highlight(code, { language }).value;
}
