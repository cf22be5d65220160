import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createDashboardFiles } from "../../../src/transport/http/static-files.ts";
import { listenWith, rawHttp } from "../../support/raw-http.ts";
import { ownFolder } from "../../support/when-over.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const INDEX = "<!doctype html><title>Dashboard</title>";
const SCRIPT = "console.log(1);".repeat(20);
const OTHER = "not the dashboard";
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; frame-src 'self'; require-trusted-types-for 'script'; base-uri 'none'; form-action 'self'; " +
  "frame-ancestors 'none'";

const folder = ownFolder("dashboard");
const serve = createDashboardFiles(folder);
const url = await listenWith((request, response) => {
  if (!serve(request, response, "request-1"))
    response.setHeader("content-length", OTHER.length).writeHead(404).end(OTHER);
});

function build(): void {
  mkdirSync(join(folder, "assets"), { recursive: true });
  write("index.html", INDEX);
  write("assets/index-abc.js", SCRIPT);
  writeFileSync(join(folder, "assets/notes.pdf"), "not a kind of file that pages load");
}

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text));
  writeFileSync(join(folder, `${name}.gz`), gzipSync(text));
}

/** Requests a file with Node's client, which neither requests nor decodes compression. */
async function get(path: string, headers: Record<string, string> = {}, method = "GET") {
  const lines = Object.entries({ host: "localhost", connection: "close", ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return rawHttp(url, `${method} ${path} HTTP/1.1\r\n${head}\r\n`);
}

const asPage = { accept: BROWSER };

test("pages are served as soon as they are built, without a restart", async () => {
  expect(await get("/", asPage)).toMatchObject({ status: 404 });
  build();
  expect(await get("/", asPage)).toMatchObject({ status: 200, text: INDEX });
});

describe("a page", () => {
  test.each(["/", "/w/1/shipments?status=1", "/sign-in", "/nowhere", "/v2", "/w/../../etc/passwd"])(
    "at %s is index.html, with a strict policy and revalidated on each request",
    async (path) => {
      const { status, text, headers } = await get(path, asPage);
      expect({ status, text }).toEqual({ status: 200, text: INDEX });
      expect(Object.fromEntries(headers)).toEqual({
        "content-type": "text/html; charset=utf-8",
        "content-length": String(INDEX.length),
        "cache-control": "no-cache",
        vary: "Accept, Accept-Encoding",
        etag: expect.stringMatching(/^W\/"[\w-]{22}"$/),
        "content-security-policy": POLICY,
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-request-id": "request-1",
        date: expect.any(String),
        connection: "close",
      });
    },
  );

  test.each([
    ["a program", "/", { accept: "*/*" }, "GET"],
    ["a program that takes JSON", "/nowhere", { accept: "application/json" }, "GET"],
    ["a form", "/sign-in", asPage, "POST"],
    ["a path of the API", "/v1/nowhere", asPage, "GET"],
    ["a path of the platform's API", "/admin/v1/nowhere", asPage, "GET"],
  ])("is not served for %s", async (_, path, headers, method) => {
    const { status, text } = await get(path, { "content-length": "0", ...headers }, method);
    expect({ status, text }).toEqual({ status: 404, text: OTHER });
  });
});

test("with map tiles of another origin, the policy also allows images from there", async () => {
  const withTiles = createDashboardFiles(folder, "https://tiles.example.org");
  const other = await listenWith((request, response) => void withTiles(request, response, "1"));
  const answer = await fetch(`${other}/`, { headers: asPage });
  expect(answer.headers.get("content-security-policy")).toBe(
    POLICY.replace("img-src 'self' data:", "img-src 'self' data: https://tiles.example.org"),
  );
});

test("HEAD returns only the headers", async () => {
  const answer = await fetch(`${url}/`, { method: "HEAD", headers: asPage });
  expect(answer.headers.get("content-security-policy")).toBe(POLICY);
  expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 200, text: "" });
});

describe("a file with a hash in its name", () => {
  test("is cached by browsers permanently, whatever they accept", async () => {
    const { status, text, headers } = await get("/assets/index-abc.js", { accept: "*/*" });
    expect({ status, text }).toEqual({ status: 200, text: SCRIPT });
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
    });
  });

  test.each([
    "/assets/index-old.js",
    "/assets/notes.pdf",
    "/assets/index-abc.js.gz",
    "/assets/../index.html",
    "/assets/",
    "/assets/__proto__",
  ])("returns 404 at %s, also for a browser", async (path) => {
    expect(await get(path, asPage)).toMatchObject({ status: 404, text: OTHER });
  });
});

describe("compression", () => {
  test.each([
    ["gzip, deflate, br", "br"],
    ["gzip;q=1.0, br;q=0", "gzip"],
    ["BR", "br"],
    ["deflate", undefined],
    ["", undefined],
  ])("for a browser that accepts %o is %s", async (accepted, coding) => {
    const answer = await fetchBytes("/assets/index-abc.js", accepted);
    expect(answer.coding).toBe(coding);
    const plain =
      coding === "br" ? brotliDecompressSync(answer.body) : coding === "gzip" ? gunzipSync(answer.body) : answer.body;
    expect(plain.toString()).toBe(SCRIPT);
  });
});

async function fetchBytes(path: string, accepted: string) {
  const { text, headers } = await get(path, { "accept-encoding": accepted });
  const coding = headers.get("content-encoding") ?? undefined;
  return { coding, body: Buffer.from(text, "latin1") };
}

describe("a browser that has a page", () => {
  test.each(["%s", '"other", %s', "*"])("with If-None-Match: %s gets 304", async (form) => {
    const { headers } = await get("/", asPage);
    const etag = headers.get("etag")!;
    const again = await get("/", { ...asPage, "if-none-match": form.replace("%s", etag) });
    expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: "" });
    expect(again.headers.get("etag")).toBe(etag);
    expect(again.headers.get("cache-control")).toBe("no-cache");
  });

  test("in another version gets the current one", async () => {
    const { status, text } = await get("/", { ...asPage, "if-none-match": '"other"' });
    expect({ status, text }).toEqual({ status: 200, text: INDEX });
  });
});
