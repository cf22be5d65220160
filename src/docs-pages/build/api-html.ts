import { escapeHtml } from "../../domain/escape-html.ts";
import { API_PAGE } from "./links.ts";
import { renderText } from "./render-guide.ts";

/**
 * Returns the contents of the API page: the container of swagger-ui, and a list of all operations for
 * readers without scripts and until swagger-ui has loaded.
 */
export function apiHtml(api: ApiDocument): string {
  const byTag = Map.groupBy(operationsOf(api), ({ tag }) => tag);
  const lists = api.tags
    .map(({ name }) => ({ name, operations: byTag.get(name) ?? [] }))
    .filter(({ operations }) => operations.length > 0)
    .map(({ name, operations }) => listHtml(name, operations));
  return `<div class="api-page">
<article>
<h1>API reference</h1>
${renderText(api.info.description)}<p><a href="/openapi.json">/openapi.json</a> contains the same reference in OpenAPI 3.1. To try a call, enter a key under “Authorize”. The page discards it when you leave. Calls from this page have real effects.</p>
</article>
<div id="swagger-ui">
<div class="operations">
${lists.join("\n")}
</div>
</div>
</div>`;
}

function listHtml(tag: string, operations: readonly Operation[]): string {
  const rows = operations.map(
    ({ method, path, summary }) =>
      `<tr><td><code>${method} ${escapeHtml(path)}</code></td><td>${escapeHtml(summary)}</td></tr>`,
  );
  return `<h2>${tag}</h2>
<div class="wide" role="group" aria-label="${tag}" tabindex="0"><table>
${rows.join("\n")}
</table></div>`;
}

/** Part of an OpenAPI document that the pages use. */
export interface ApiDocument {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
}

interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary?: string;
  readonly description?: string;
}

export interface Operation {
  /** HTTP method in upper case. */
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** URL in the reference. */
  readonly href: string;
}

export function operationsOf({ paths }: ApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => operation(method, path, described)),
  );
}

function operation(method: string, path: string, described: DescribedOperation): Operation {
  const { operationId, tags, summary = "", description = summary } = described;
  const tag = tags[0] ?? "";
  return {
    method: method.toUpperCase(),
    path,
    tag,
    summary,
    description,
    href: `${API_PAGE}#/${tag}/${operationId}`,
  };
}
