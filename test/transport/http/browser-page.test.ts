import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { startService, startUnprepared } from "../../support/service.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const service = await startUnprepared();

const get = (path: string, accept: string, method = "GET") => service.request(path, { method, headers: { accept } });

/** Links that programs get in the response from `/`. */
const linksOf = (address: string) => ({
  guides: `${address}/docs`,
  llms: `${address}/llms.txt`,
  reference: `${address}/docs/api`,
  openapi: `${address}/openapi.json`,
  protos: `${address}/protos.tar.gz`,
  changelog: `${address}/docs/changelog`,
  health: `${address}/healthz`,
  readiness: `${address}/readyz`,
});

test.each([
  ["/", 200, "Shipment booking"],
  ["/nowhere", 404, "This path does not exist"],
  ["/v1/nowhere", 404, "This path does not exist"],
])("a browser at %s gets a page, with %i, that loads no resources", async (path, status, title) => {
  const answer = await get(path, BROWSER);
  const [, style = ""] = /<style>(.*)<\/style>/s.exec(answer.text) ?? [];
  const hash = createHash("sha256").update(style).digest("base64");
  expect(answer.status).toBe(status);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "x-content-type-options": "nosniff",
    vary: "Accept",
    "x-request-id": expect.stringMatching(/.+/),
  });
  expect(answer.text).toContain(`<h1>${title}</h1>`);
  for (const text of ["/v1", "gRPC", "/docs", "/docs/api", "/protos.tar.gz"]) {
    expect(answer.text).toContain(text);
  }
});

test.each([
  "*/*",
  "",
  "application/json",
  "application/json, text/html",
  "text/html;q=0.5, application/json",
  "text/html;q=0",
])("a program that accepts %o gets a list of links at / and the JSON error elsewhere", async (accept) => {
  const links = await get("/?from=curl", accept);
  expect(links).toMatchObject({ status: 200, body: linksOf(service.httpUrl) });
  expect(links.headers.get("vary")).toBe("Accept");
  const { status, body } = await get("/nowhere", accept);
  expect({ status, body }).toEqual({
    status: 404,
    body: { message: "This path does not exist.", errors: {} },
  });
});

test("a browser gets the JSON error for POST and no body for HEAD", async () => {
  expect(await get("/", BROWSER, "POST")).toMatchObject({ status: 404, body: { errors: {} } });
  expect(await get("/", BROWSER, "HEAD")).toMatchObject({ status: 200, text: "" });
});

test("the page does not repeat the path", async () => {
  const { text } = await get("/%3Cscript%3E?q=<script>", BROWSER);
  expect(text).not.toMatch(/script/i);
});

describe("with the dashboard", async () => {
  const withDashboard = await startService({
    dashboard: true,
    publicUrl: "https://book.example.org",
    publicGrpcUrl: "https://grpc.example.org",
  });

  test("a browser gets it at any path except those of the API and the probes", async () => {
    const kindOf = async (path: string) => {
      const answer = await withDashboard.request(path, { headers: { accept: BROWSER } });
      return [answer.status, /<title>(.*)<\/title>/.exec(answer.text)?.[1] ?? "JSON"];
    };
    expect(await kindOf("/")).toEqual([200, "Shipments"]);
    expect(await kindOf("/w/1/shipments")).toEqual([200, "Shipments"]);
    expect(await kindOf("/healthz")).toEqual([200, "JSON"]);
    expect(await kindOf("/v1/shipments")).toEqual([401, "JSON"]);
    expect(await kindOf("/v1/nowhere")).toEqual([404, "This path does not exist"]);
  });

  test("without scripts it links to the documentation, which needs none", async () => {
    const { text } = await withDashboard.request("/", { headers: { accept: BROWSER } });
    const [, without = ""] = /<noscript>(.*)<\/noscript>/s.exec(text) ?? [];
    expect(without).toContain('href="/docs"');
    expect(without).toContain('href="/docs/api"');
  });

  test("a program gets valid links with the public URL", async () => {
    const { body } = await withDashboard.request("/");
    expect(body).toEqual(linksOf("https://book.example.org"));
    for (const link of Object.values<string>(body)) {
      const { status } = await withDashboard.request(new URL(link).pathname);
      expect({ link, status }).toEqual({ link, status: 200 });
    }
  });

  test.each([
    ["/favicon.ico", "image/svg+xml", /^<svg /],
    ["/robots.txt", "text/plain; charset=utf-8", /^User-agent: \*\nAllow: \/docs\nAllow: \/llms\.txt\nDisallow: \/\n$/],
  ])("%s is %s", async (path, type, text) => {
    const answer = await withDashboard.request(path);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe(type);
    expect(answer.text).toMatch(text);
  });

  test("examples in the guides call the public URL with any content coding", async () => {
    for (const coding of ["identity", "gzip", "br"]) {
      const { text } = await withDashboard.request("/docs", {
        headers: { "accept-encoding": coding },
      });
      const [, ...examples] = text.split("<pre ").map((it) => it.split("</pre>")[0]!);
      const example = examples.find((it) => it.includes("/v1/shipments/quote"));
      expect(example).toContain("curl -sS https://book.example.org/v1/shipments/quote");
      expect(examples.join("")).not.toContain("http://127.0.0.1:8080");
      expect(examples.join("")).toContain("https://grpc.example.org/shipments.v1.ShipmentService");
    }
  });
});
