import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { startService, startUnprepared } from "../../support/service.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const service = await startUnprepared();

const get = (path: string, accept: string, method = "GET") =>
  service.request(path, { method, headers: { accept } });

test.each([
  ["/", 200, "Shipment booking"],
  ["/nowhere", 404, "There is nothing at this path"],
  ["/v1/nowhere", 404, "There is nothing at this path"],
])("a browser at %s gets a page, with %i, that loads nothing", async (path, status, title) => {
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
  for (const said of ["/v1", "gRPC", "/docs", "/docs/api", "proto/shipments/v1"]) {
    expect(answer.text).toContain(said);
  }
});

test.each([
  "*/*",
  "",
  "application/json",
  "application/json, text/html",
  "text/html;q=0.5, application/json",
  "text/html;q=0",
])("a program that accepts %o gets the JSON error", async (accept) => {
  for (const path of ["/", "/nowhere"]) {
    const { status, body } = await get(path, accept);
    expect({ status, body }).toEqual({
      status: 404,
      body: { message: "There is nothing at this path.", errors: {} },
    });
  }
});

test("a browser that posts gets the JSON error, and one that asks for HEAD no body", async () => {
  expect(await get("/", BROWSER, "POST")).toMatchObject({ status: 404, body: { errors: {} } });
  expect(await get("/", BROWSER, "HEAD")).toMatchObject({ status: 200, text: "" });
});

test("a path is not repeated on the page", async () => {
  const { text } = await get("/%3Cscript%3E?q=<script>", BROWSER);
  expect(text).not.toMatch(/script/i);
});

describe("with the dashboard", async () => {
  const withDashboard = await startService({ dashboard: true });

  test("a browser gets it at any address but those of the API and of probes", async () => {
    const kindOf = async (path: string) => {
      const answer = await withDashboard.request(path, { headers: { accept: BROWSER } });
      return [answer.status, /<title>(.*)<\/title>/.exec(answer.text)?.[1] ?? "JSON"];
    };
    expect(await kindOf("/")).toEqual([200, "Shipments"]);
    expect(await kindOf("/w/1/shipments")).toEqual([200, "Shipments"]);
    expect(await kindOf("/healthz")).toEqual([200, "JSON"]);
    expect(await kindOf("/v1/shipments")).toEqual([401, "JSON"]);
    expect(await kindOf("/v1/nowhere")).toEqual([404, "There is nothing at this path"]);
  });

  test("a program gets the JSON error as before", async () => {
    expect(await withDashboard.request("/")).toMatchObject({
      status: 404,
      body: { message: "There is nothing at this path.", errors: {} },
    });
  });
});
