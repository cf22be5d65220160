import { getOption } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { refusal_reasons } from "../../../gen/shipments/v1/options_pb.js";
import { Refusal, type RefusalReason } from "../../../src/domain/refusal.ts";
import { commonReasons } from "../../../src/pipeline/common-reasons.ts";
import { remedyOf, toolNameOf } from "../../../src/transport/mcp/tool-fix.ts";
import { toErrorResult } from "../../../src/transport/mcp/tool-result.ts";
import { TOOLS } from "../../../src/transport/mcp/tools.ts";

const common = commonReasons({ audience: "workspace", readOnly: false, hasBody: false });
const own = TOOLS.flatMap(({ method }) => getOption(method, refusal_reasons));
const reasons = [...new Set([...common, ...(own as RefusalReason[])])];
const tools = TOOLS.map(({ method }) => toolNameOf(method.name));

test.each(reasons)("the remedy for %s names only tools, and no other RPCs, headers or paths", (reason) => {
  const remedy = remedyOf(reason);
  expect(remedy).toMatch(/\.$/);
  const named = remedy.match(/\b(create|get|list|search|update|cancel|record|waive)_[a-z_]+/g);
  for (const name of named ?? []) expect(tools).toContain(name);
  expect(remedy).not.toMatch(/`[A-Z]|\/v1|Retry-After/);
});

test("counts errors that do not fit in a result", () => {
  const violations = Array.from({ length: 100 }, (_, i) => ({
    reason: "FIELD_INVALID" as const,
    subject: `${i} ${"\u00e9".repeat(300)}`,
    text: "\u00e9".repeat(2_000),
  }));
  const { content, isError } = toErrorResult(new Refusal(violations), "request-1");
  const { text } = content[0] as { readonly text: string };
  expect(isError).toBe(true);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(20_000);
  const { notice, errors, request_id } = JSON.parse(text);
  const missing = 100 - Object.keys(errors).length;
  expect(notice).toBe(`${missing} more arguments have errors. Correct the listed errors, then call again.`);
  expect(request_id).toBe("request-1");
});
