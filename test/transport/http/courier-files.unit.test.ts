import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createCourierFiles } from "../../../src/transport/http/static-files.ts";
import { listenWith } from "../../support/raw-http.ts";
import { ownFolder } from "../../support/when-over.ts";

const folder = ownFolder("courier");
mkdirSync(join(folder, "assets"));
for (const [name, text] of [
  ["index.html", "page"],
  ["sw.js", "worker"],
  ["assets/index-abc.js", "script"],
] as const) {
  writeFileSync(join(folder, name), text);
}
const serve = createCourierFiles(folder);
const url = await listenWith((request, response) => {
  if (!serve(request, response, "request-1")) response.writeHead(404).end("other");
});

test.each([
  ["/c", 200, "page", "no-cache", null],
  ["/c?from=mail", 200, "page", "no-cache", null],
  ["/c/sw.js", 200, "worker", "no-cache", "/c"],
  ["/c/assets/index-abc.js", 200, "script", "public, max-age=31536000, immutable", null],
  ["/c/assets/index-old.js", 404, "other", null, null],
  ["/c/session", 404, "other", null, null],
  ["/customers", 404, "other", null, null],
])("%s is %i: %s", async (path, status, text, caching, scope) => {
  const response = await fetch(`${url}${path}`);
  expect([response.status, await response.text()]).toEqual([status, text]);
  expect(response.headers.get("cache-control")).toBe(caching);
  expect(response.headers.get("service-worker-allowed")).toBe(scope);
});
