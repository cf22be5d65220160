import { escapeHtml } from "../../domain/escape-html.ts";
import { markdownPathOf, ROOT } from "./links.ts";

export interface Link {
  readonly href: string;
  readonly text: string;
}

/** URL paths of a page's assets. */
export interface Assets {
  readonly icon: string;
  readonly searchIndex: string;
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
}

export interface PageContent {
  /** Path of the page. If absent, no navigation entry is marked. */
  readonly path?: string;
  readonly title: string;
  readonly description: string;
  readonly main: string;
  /** Scripts that are loaded first and not bundled. */
  readonly plainScripts?: readonly string[];
}

export type Navigation = readonly { readonly heading: string; readonly links: readonly Link[] }[];

const SITE = "Shipments";

/** Returns a complete page. Scripts only add the search and copy buttons. */
export function pageHtml(page: PageContent, navigation: Navigation, assets: Assets): string {
  const title = page.path === ROOT ? page.title : `${page.title} · ${SITE}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(page.description)}">
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
${markdownLinkHtml(page.path)}
${assets.styles.map((href) => `<link rel="stylesheet" href="${href}">`).join("\n")}
${(page.plainScripts ?? []).map((src) => `<script defer src="${src}"></script>`).join("\n")}
${assets.scripts.map((src) => `<script type="module" src="${src}"></script>`).join("\n")}
</head>
<body>
<div class="frame">
<a class="skip" href="#main">Skip to main content</a>
${topHtml(assets)}
${navigationHtml(navigation, page.path)}
<main id="main" tabindex="-1">
${page.main}
</main>
</div>
</body>
</html>
`;
}

/** Returns the link to the Markdown version, if there is one. */
function markdownLinkHtml(path: string | undefined): string {
  const markdown = path === undefined ? path : markdownPathOf(path);
  if (markdown === path) return "";
  return `<link rel="alternate" href="${markdown}" type="text/markdown">`;
}

function topHtml({ icon, searchIndex }: Assets): string {
  return `<header class="top">
<button type="button" class="menu-button button quiet" popovertarget="navigation"><span aria-hidden="true">☰</span><span class="visually-hidden">Navigation</span></button>
<a class="home" aria-label="${SITE}: documents" href="${ROOT}"><img src="${icon}" alt="" width="22" height="22"><span>${SITE}</span></a>
<search class="search" data-index="${searchIndex}" hidden>
<input type="search" role="combobox" aria-label="Search the documents" aria-expanded="false" aria-controls="results" aria-autocomplete="list" autocomplete="off" spellcheck="false" placeholder="Search">
<kbd aria-hidden="true">/</kbd>
<div id="results" role="listbox" aria-label="Results" hidden></div>
<p class="visually-hidden" role="status"></p>
</search>
<a class="button quiet elsewhere" href="/">Dashboard</a>
</header>`;
}

function navigationHtml(navigation: Navigation, path: string | undefined): string {
  const sections = navigation.map(
    ({ heading, links }) => `<div>
<h2>${escapeHtml(heading)}</h2>
<ul>
${links.map((it) => `<li>${linkHtml(it, path)}</li>`).join("\n")}
</ul>
</div>`,
  );
  return `<nav id="navigation" class="navigation" popover="auto" aria-label="Documents">
${sections.join("\n")}
</nav>`;
}

function linkHtml({ href, text }: Link, path: string | undefined): string {
  const current = href === path ? ' aria-current="page"' : "";
  return `<a href="${href}"${current}>${escapeHtml(text)}</a>`;
}
