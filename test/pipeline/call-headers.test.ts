import { expect, test } from "vitest";
import { readCallHeaders } from "../../src/pipeline/call-headers.ts";

test("a traceparent that comes twice counts as malformed, and what comes of tracestate is joined", () => {
  const once = readCallHeaders(["Traceparent", "a", "Tracestate", "x=1"]);
  expect(once).toMatchObject({ traceparent: "a", tracestate: "x=1" });
  const twice = ["traceparent", "a", "tracestate", "x=1", "traceparent", "a", "tracestate", "y=2"];
  expect(readCallHeaders(twice)).toMatchObject({ traceparent: "", tracestate: "x=1,y=2" });
});
