import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createSecretKey } from "../../src/domain/secret-key.ts";
import { createWebhookSecret } from "../../src/domain/webhook/webhook-signature.ts";
import { readCallHeaders, readTraceparent } from "../../src/pipeline/call-headers.ts";

const HASH = "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b";

test.each([
  "3f2b0f6e-9a51-4f0e-8f5f-5b8f6a3c0d11",
  "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  "Root=1-67891233-abcdef012345678912345678;Parent=53995c3f42cd8ad8",
  `order-${HASH}`,
  "x".repeat(128),
])("keeps a request id: %s", (id) => {
  expect(readCallHeaders(["X-Request-Id", id]).requestId).toBe(id);
});

const TOKEN = randomBytes(32).toString("base64url");

test.each([
  createSecretKey("shp_"),
  createSecretKey("sho_").slice(0, 20),
  `call-${createSecretKey("shp_")}-7`,
  createWebhookSecret(),
  `Bearer:${HASH.slice(0, 20)}`,
  TOKEN,
  `session=${TOKEN};x`,
  `retry-${TOKEN}_2`,
  "x".repeat(129),
  "two words",
])("replaces a request id that is invalid or may contain a secret: %s", (id) => {
  const { requestId } = readCallHeaders(["X-Request-Id", id]);
  expect(requestId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});

test("treats a repeated traceparent as malformed and joins repeated tracestate headers", () => {
  const once = readCallHeaders(["Traceparent", "a", "Tracestate", "x=1"]);
  expect(once).toMatchObject({ traceparent: "a", tracestate: "x=1" });
  const twice = ["traceparent", "a", "tracestate", "x=1", "traceparent", "a", "tracestate", "y=2"];
  expect(readCallHeaders(twice)).toMatchObject({ traceparent: "", tracestate: "x=1,y=2" });
});

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

test.for([
  ["sampled", `00-${TRACE}-${SPAN}-01`, true],
  ["not sampled", `00-${TRACE}-${SPAN}-00`, false],
  ["with an unknown flag", `00-${TRACE}-${SPAN}-03`, true],
  ["of a future version with more fields", `cc-${TRACE}-${SPAN}-01-what-the-future-will-be`, true],
] as const)("reads a traceparent that is %s", ([, header, isSampled]) => {
  expect(readTraceparent(header)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled });
});

test.for([
  ["empty", ""],
  ["of the version ff", `ff-${TRACE}-${SPAN}-01`],
  ["of version 00 with more fields", `00-${TRACE}-${SPAN}-01-more`],
  ["of a future version with trailing text", `cc-${TRACE}-${SPAN}-01.more`],
  ["of a trace of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
  ["of a span of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
  ["in capitals", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ["too short", `00-${TRACE.slice(1)}-${SPAN}-01`],
  ["not hexadecimal", `00-${TRACE.replace("0", "g")}-${SPAN}-01`],
  ["without flags", `00-${TRACE}-${SPAN}`],
] as const)("ignores a traceparent that is %s", ([, header]) => {
  expect(readTraceparent(header)).toBeUndefined();
});
