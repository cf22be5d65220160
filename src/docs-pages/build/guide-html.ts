import { escapeHtml } from "../../domain/escape-html.ts";
import type { Link } from "./page-html.ts";
import type { Guide, Heading } from "./render-guide.ts";

/** Minimum number of headings for a table of contents. */
const FEW = 2;

/** Returns the contents of a guide page: the text, a table of contents, and links to the previous and next guide. */
export function guideHtml(guide: Guide, previous?: Link, next?: Link): string {
  const headings = guide.headings.filter(({ level }) => level <= 3);
  const hasContents = headings.length >= FEW;
  const afterTitle = guide.html.indexOf("</h1>\n") + "</h1>\n".length;
  return `<div class="guide">
${hasContents ? contentsHtml(headings) : ""}
<article>
${guide.html.slice(0, afterTitle)}${hasContents ? foldedContentsHtml(headings) : ""}${guide.html.slice(afterTitle)}</article>
${turnHtml(previous, next)}
</div>`;
}

/** Returns the table of contents for wide screens, which is next to the text. */
function contentsHtml(headings: readonly Heading[]): string {
  return `<nav class="contents" aria-label="On this page">
<h2>On this page</h2>
${listHtml(headings)}
</nav>`;
}

/** Returns the table of contents for narrow screens, which is below the title. */
function foldedContentsHtml(headings: readonly Heading[]): string {
  return `<details class="folded-contents">
<summary>On this page</summary>
<nav aria-label="On this page">
${listHtml(headings)}
</nav>
</details>
`;
}

function listHtml(headings: readonly Heading[]): string {
  const items = headings.map(
    ({ level, id, text }) => `<li class="level-${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return `<ul>
${items.join("\n")}
</ul>`;
}

function turnHtml(previous: Link | undefined, next: Link | undefined): string {
  if (previous === undefined && next === undefined) return "";
  return `<nav class="turn" aria-label="Previous and next">
${turnLinkHtml(previous, "prev", "Previous")}
${turnLinkHtml(next, "next", "Next")}
</nav>`;
}

function turnLinkHtml(link: Link | undefined, rel: "prev" | "next", label: string): string {
  if (link === undefined) return "";
  const text = `<span class="minor">${label}</span> ${escapeHtml(link.text)}`;
  return `<a class="${rel}" rel="${rel}" href="${link.href}">${text}</a>`;
}
