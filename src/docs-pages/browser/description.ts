import type { CreateElement } from "./swagger-ui.ts";

/**
 * Shows a description of the API's document: paragraphs, lists and code, which is all the Markdown there
 * is in it. swagger-ui itself would set it as HTML, which the policy of the page forbids.
 */
export function descriptionElement(source: string, createElement: CreateElement): unknown {
  const blocks = source.trim().split(/\n{2,}/);
  return createElement("div", { className: "markdown" }, ...blocks.map(block));

  function block(text: string): unknown {
    if (!text.startsWith("- ")) return createElement("p", null, ...inline(text));
    const items = text.slice(2).split(/\n- /);
    return createElement(
      "ul",
      null,
      ...items.map((it) => createElement("li", null, ...inline(it))),
    );
  }

  /** Of what is split by a group, every other piece is the group's. */
  function inline(text: string): unknown[] {
    return text
      .split(/`([^`]+)`/)
      .map((piece, at) => (at % 2 === 1 ? createElement("code", null, piece) : piece));
  }
}
