import { expect, test } from "vitest";
import { readTraceparent } from "../../src/pipeline/request/traceparent.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

test.for([
  ["sampled", `00-${TRACE}-${SPAN}-01`, true],
  ["not sampled", `00-${TRACE}-${SPAN}-00`, false],
  ["with a flag that is not known yet", `00-${TRACE}-${SPAN}-03`, true],
  [
    "of a version to come, with more fields",
    `cc-${TRACE}-${SPAN}-01-what-the-future-will-be`,
    true,
  ],
] as const)("a traceparent that is %s is read", ([, header, isSampled]) => {
  expect(readTraceparent(header)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled });
});

test.for([
  ["empty", ""],
  ["of the version ff", `ff-${TRACE}-${SPAN}-01`],
  ["of version 00 with more fields", `00-${TRACE}-${SPAN}-01-more`],
  ["of a version to come, with text at its end", `cc-${TRACE}-${SPAN}-01.more`],
  ["of a trace of zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
  ["of a span of zeros", `00-${TRACE}-${"0".repeat(16)}-01`],
  ["in capitals", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ["too short", `00-${TRACE.slice(1)}-${SPAN}-01`],
  ["not hexadecimal", `00-${TRACE.replace("0", "g")}-${SPAN}-01`],
  ["without flags", `00-${TRACE}-${SPAN}`],
] as const)("a traceparent that is %s counts as none", ([, header]) => {
  expect(readTraceparent(header)).toBeUndefined();
});
