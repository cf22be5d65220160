import { escapeHtml } from "./html.ts";
import { renderText } from "./render-guide.ts";
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
<article>
<h1>API reference</h1>
${renderText(api.info.description)}<p>For programs, <a href="/openapi.json">/openapi.json</a> says the same in OpenAPI 3.1. To try a call,
put in a key by “Authorize”. The page forgets it when it is left; what is called here is done in
earnest.</p>
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
