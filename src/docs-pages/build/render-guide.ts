import MarkdownIt, { type RendererRule, type Token } from "markdown-it";
import type { GuideSource } from "./guide-source.ts";
import { escapeHtml } from "../../domain/escape-html.ts";
import { highlight } from "./highlight.ts";
import { createSlugs, pathOf, resolveLink } from "./links.ts";
import { plainMarkdown } from "./plain-markdown.ts";

export interface Heading {
  /** Level of the heading, 2 or more. */
  readonly level: number;
  readonly id: string;
  readonly text: string;
}

/** Text between two headings, for the search index. */
export interface Section {
  /** Path with the heading's anchor. */
  readonly href: string;
  readonly heading: string;
  /** Plain text on one line. */
  readonly text: string;
}

export interface Guide {
  readonly path: string;
  readonly title: string;
  /** Start of the first paragraph, with up to 160 characters. Contains whole sentences if one fits. */
  readonly description: string;
  readonly html: string;
  /** Markdown for readers who do not use the pages. */
  readonly markdown: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
}

const markdownIt = new MarkdownIt();
markdownIt.renderer.rules.fence = renderCode;
markdownIt.renderer.rules.code_block = renderCode;
markdownIt.renderer.rules.table_open = () => '<div class="wide" role="group" aria-label="Table" tabindex="0"><table>\n';
markdownIt.renderer.rules.table_close = () => "</table></div>\n";

/**
 * Renders a guide. Headings have the same anchors as on GitHub, links point to pages or name the
 * repository file, and code is highlighted.
 */
export function renderGuide(source: GuideSource): Guide {
  const { file, markdown, picture } = source;
  const path = pathOf(file)!;
  const tokens = markdownIt.parse(markdown, {});
  for (const token of tokens) {
    resolveLinks(token.children ?? [], file);
    insertPictures(token.children ?? [], file, picture);
  }
  unhead(tokens);
  const [title, ...headings] = nameHeadings(tokens);
  const firstParagraph = tokens.findIndex(({ type }) => type === "paragraph_open") + 1;
  return {
    path,
    title: title?.text ?? path,
    description: shortened(textOf(tokens[firstParagraph])),
    sections: sectionsOf(tokens, path),
    headings,
    markdown: plainMarkdown(source),
    html: markdownIt.renderer.render(tokens, markdownIt.options, {}),
  };
}

/** Renders Markdown without headings and file links. */
export function renderText(markdown: string): string {
  return markdownIt.render(markdown);
}

/** Renders a code block. Long lines can be scrolled with mouse and keyboard. */
function renderCode(...[tokens, index]: Parameters<RendererRule>): string {
  const { content, info } = tokens[index]!;
  const language = info.trim().split(/\s/)[0] ?? "";
  const code = highlight(content.replace(/\n$/, ""), language);
  const label = language === "" ? "Text" : `Example: ${language}`;
  return `<div class="code"><pre tabindex="0" role="group" aria-label="${escapeHtml(label)}"><code>${code}</code></pre></div>\n`;
}

/** Converts empty column headings to ordinary cells, so that screen readers do not announce them. */
function unhead(tokens: readonly Token[]): void {
  for (const [index, token] of tokens.entries()) {
    if (token.type !== "th_open" || tokens[index + 1]?.content !== "") continue;
    token.tag = "td";
    tokens[index + 2]!.tag = "td";
  }
}

/** Adds an anchor to every heading, and a link to each heading below the title. */
function nameHeadings(tokens: readonly Token[]): Heading[] {
  const slugOf = createSlugs();
  const headings: Heading[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type !== "heading_open") continue;
    const content = tokens[index + 1]!;
    const text = textOf(content);
    const heading = { level: Number(token.tag.slice(1)), id: slugOf(text), text };
    token.attrSet("id", heading.id);
    if (headings.length > 0) linkTo(`#${heading.id}`, content);
    headings.push(heading);
  }
  return headings;
}

function linkTo(href: string, content: Token): void {
  const children = content.children ?? [];
  if (children.some(({ type }) => type === "link_open")) return;
  const [open, close] = markdownIt.parseInline(`[.](${href})`, {})[0]!.children!.filter(({ type }) => type !== "text");
  content.children = [open!, ...children, close!];
}

/** Replaces links to files with links to pages, or with the file's name if it is not served. */
function resolveLinks(children: Token[], from: string): void {
  for (const [index, token] of children.entries()) {
    if (token.type !== "link_open") continue;
    const target = resolveLink(String(token.attrGet("href")), from);
    if ("href" in target) token.attrSet("href", target.href);
    else nameFile(children, index, target.file);
  }
}

function nameFile(children: Token[], opening: number, file: string): void {
  const closing = children.findIndex(({ type }, index) => index > opening && type === "link_close");
  const [open, close] = [children[opening]!, children[closing]!];
  open.tag = close.tag = "span";
  open.attrs = [
    ["class", "file"],
    ["title", `In the service's repository: ${file}`],
  ];
  const last = children[closing - 1]!;
  const text = children
    .slice(opening, closing)
    .map(({ content }) => content)
    .join("");
  if (!file.endsWith(text) && last.type === "text") last.content += ` (${file})`;
}

function insertPictures(children: readonly Token[], from: string, picture: GuideSource["picture"]): void {
  for (const token of children) {
    if (token.type !== "image") continue;
    const target = resolveLink(String(token.attrGet("src")), from);
    if (!("file" in target)) continue;
    const { src, width, height } = picture(target.file);
    for (const [name, value] of Object.entries({ src, width, height, loading: "lazy" })) {
      token.attrSet(name, value);
    }
  }
}

function sectionsOf(tokens: readonly Token[], path: string): Section[] {
  const sections: { href: string; heading: string; text: string }[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type === "heading_open") {
      const anchor = sections.length === 0 ? "" : `#${token.attrGet("id")}`;
      sections.push({ href: `${path}${anchor}`, heading: textOf(tokens[index + 1]), text: "" });
    } else if (tokens[index - 1]?.type !== "heading_open") {
      const section = sections.at(-1);
      if (section !== undefined) section.text = `${section.text} ${textOf(token)}`;
    }
  }
  return sections.map((it) => ({ ...it, text: it.text.replaceAll(/\s+/g, " ").trim() }));
}

function textOf(token: Token | undefined): string {
  if (token === undefined) return "";
  if (token.children === null) return token.content;
  return token.children
    .map(({ type, content }) => (type === "softbreak" || type === "hardbreak" ? " " : content))
    .join("");
}

function shortened(text: string): string {
  if (text.length <= 160) return text;
  const [sentences] = /^.{1,159}[.!?](?=\s)/.exec(text) ?? [];
  if (sentences !== undefined) return sentences;
  return `${text.slice(0, 159).replace(/\s+\S*$/, "")}…`;
}
