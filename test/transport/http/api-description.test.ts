import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startUnprepared, type UnpreparedService } from "../../support/service.ts";

let service: UnpreparedService;

beforeAll(async () => {
  service = await startUnprepared();
});

afterAll(async () => {
  await service.app.close();
});

const FILE = readFileSync("gen/openapi/openapi.json", "utf8");

test("the OpenAPI document is served to everybody, also to browsers and before the database is there", async () => {
  for (const accept of ["*/*", "text/html"]) {
    const answer = await service.request("/openapi.json", { headers: { accept } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("cache-control")).toBe("public, no-cache");
    expect(answer.headers.get("x-request-id")).toMatch(/./);
    expect(answer.text).toBe(FILE);
  }
});

test("the OpenAPI document is not sent to a caller who has it", async () => {
  const headers = { "accept-encoding": "identity" };
  const first = await service.request("/openapi.json", { headers });
  const etag = first.headers.get("etag")!;
  expect(first.headers.get("content-length")).toBe(String(Buffer.byteLength(FILE)));
  const again = await service.request("/openapi.json", {
    headers: { ...headers, "if-none-match": etag },
  });
  expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
});

test("a HEAD of the OpenAPI document has the headers alone", async () => {
  const { status, text, headers } = await service.request("/openapi.json", { method: "HEAD" });
  expect([status, text, headers.get("content-type")]).toEqual([200, "", "application/json"]);
});

test("the OpenAPI document takes no other method", async () => {
  const { status, headers, body } = await service.request("/openapi.json", { body: {} });
  expect([status, headers.get("allow"), body]).toEqual([
    405,
    "GET, HEAD",
    { message: "This path does not take that method; it takes GET, HEAD.", errors: {} },
  ]);
});
