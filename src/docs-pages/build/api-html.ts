import { escapeHtml } from "./html.ts";
import { operationsOf, type ApiDocument, type Operation } from "./operations.ts";

/**
 * What the page of the API holds: where swagger-ui is put, and until then, or without scripts, a list of
 * all operations.
 */
export function apiHtml(api: ApiDocument): string {
  const byTag = Map.groupBy(operationsOf(api), ({ tag }) => tag);
  const lists = api.tags
    .map(({ name }) => ({ name, operations: byTag.get(name) ?? [] }))
    .filter(({ operations }) => operations.length > 0)
    .map(({ name, operations }) => listHtml(name, operations));
  return `<div class="api-page">
<h1>API reference</h1>
<p>Every call of the JSON API, as <a href="/openapi.json">/openapi.json</a> describes it in OpenAPI 3.1.
To try a call, put in a key by “Authorize”: it is forgotten when the page is closed, and calls made here
are as real as any other.</p>
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
