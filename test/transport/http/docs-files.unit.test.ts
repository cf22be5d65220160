import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDocsFiles } from "../../../src/transport/http/static-files.ts";
import { listenWith, rawHttp } from "../../support/raw-http.ts";
import { ownFolder } from "../../support/when-over.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const OTHER = "no document";

const folder = ownFolder("docs");
const serve = createDocsFiles(folder);
const url = await listenWith((request, response) => {
  if (!serve(request, response, "request-1")) response.writeHead(404, { "content-length": OTHER.length }).end(OTHER);
});

/** Requests a file with Node's client, which does not normalize paths. */
async function get(path: string, accept: string, method = "GET") {
  const head = `host: localhost\r\nconnection: close\r\naccept: ${accept}\r\ncontent-length: 0\r\n`;
  const { status, text, headers } = await rawHttp(url, `${method} ${path} HTTP/1.1\r\n${head}\r\n`);
  return { status, text, headers: Object.fromEntries(headers) };
}

test("documents are served as soon as they are built, without a restart", async () => {
  expect(await get("/docs", BROWSER)).toMatchObject({ status: 404 });
  mkdirSync(join(folder, "assets"));
  for (const name of ["index", "clients", "retries-and-limits", "404"]) {
    writeFileSync(join(folder, `${name}.html`), name);
  }
  for (const name of ["index.md", "clients.md", "llms.txt"]) {
    writeFileSync(join(folder, name), name);
  }
  writeFileSync(join(folder, "assets/book-abc.png"), "picture");
  expect(await get("/docs", BROWSER)).toMatchObject({ status: 200, text: "index" });
});

describe.each([
  ["browsers", BROWSER],
  ["programs", "*/*"],
  ["programs that want JSON", "application/json"],
])("for %s", (_, accept) => {
  test.each([
    ["/docs", "index"],
    ["/docs/", "index"],
    ["/docs?from=mail", "index"],
    ["/docs/clients", "clients"],
    ["/docs/clients/", "clients"],
    ["/docs/retries-and-limits", "retries-and-limits"],
  ])("%s is a page that is revalidated on each request", async (path, text) => {
    expect(await get(path, accept)).toMatchObject({
      status: 200,
      text,
      headers: {
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-cache",
        vary: "Accept-Encoding",
        "content-security-policy": expect.stringMatching(/^default-src 'none'; script-src 'self';/),
      },
    });
  });

  test.each([
    ["/docs/index.md", "index.md", "text/markdown"],
    ["/docs/clients.md", "clients.md", "text/markdown"],
    ["/llms.txt", "llms.txt", "text/plain"],
  ])("%s is text that is revalidated on each request", async (path, text, type) => {
    expect(await get(path, accept)).toMatchObject({
      status: 200,
      text,
      headers: {
        "content-type": `${type}; charset=utf-8`,
        "cache-control": "no-cache",
        vary: "Accept-Encoding",
      },
    });
  });

  test("a file with a hash in its name is cached permanently", async () => {
    expect(await get("/docs/assets/book-abc.png", accept)).toMatchObject({
      status: 200,
      text: "picture",
      headers: {
        "content-type": "image/png",
        "cache-control": "public, max-age=31536000, immutable",
      },
    });
  });
});

const NO_DOCUMENTS = [
  "/docs/nothing",
  "/docs/404",
  "/docs/clients.html",
  "/docs/nothing.md",
  "/docs/llms.txt",
  "/docs/assets/gone.js",
  "/docs/../clients",
  "/docs/__proto__",
];

test.each(NO_DOCUMENTS)("at %s browsers get a not-found page with 404", async (path) => {
  expect(await get(path, BROWSER)).toMatchObject({
    status: 404,
    text: "404",
    headers: { vary: "Accept, Accept-Encoding" },
  });
});

test.each([
  ...NO_DOCUMENTS.map((path) => [path, "*/*", "GET"] as const),
  ["/docsx", BROWSER, "GET"] as const,
  ["/", BROWSER, "GET"] as const,
  ["/docs", BROWSER, "POST"] as const,
])("%s is left to other handlers for %s and %s", async (path, accept, method) => {
  expect(await get(path, accept, method)).toMatchObject({ status: 404, text: OTHER });
});

test.each([
  ["http://127.0.0.1:19090", "http://127.0.0.1:19090", "127.0.0.1:19090"],
  ["https://grpc.example.org", "https://grpc.example.org", "127.0.0.1:9090"],
])("examples call gRPC at %s, with and without a scheme", async (publicGrpcUrl, origin, authority) => {
  const own = ownFolder("docs-grpc");
  const page = (at: string, host: string) =>
    `at 127.0.0.1:9090\n\n\`\`\`sh\ncurl ${at}\n\`\`\`\n\n\`\`\`python\ninsecure_channel("${host}")\n\`\`\`\n`;
  mkdirSync(join(own, "assets"));
  writeFileSync(join(own, "index.html"), "");
  writeFileSync(join(own, "generating.md"), page("http://127.0.0.1:9090", "127.0.0.1:9090"));
  const files = createDocsFiles(own, { publicGrpcUrl });
  const address = await listenWith((request, response) => void files(request, response, "request-1"));
  const head = "host: localhost\r\nconnection: close\r\ncontent-length: 0\r\n";
  const { text } = await rawHttp(address, `GET /docs/generating.md HTTP/1.1\r\n${head}\r\n`);
  expect(text).toBe(page(origin, authority));
});
