import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { duplicateMember } from "../../src/domain/duplicate-member.ts";

const find = (text: string) => duplicateMember(text, JSON.parse(text));

describe("finds the path of a duplicate member in", () => {
  test.each([
    ['{"a":1,"a":1}', "a"],
    ['{"a":1,"b":{"c":[0,{"d":1,"e":2,"d":3}]}}', "b.c[1].d"],
    ['{"a":[[1,2],[{},{"b":null,"b":null}]]}', "a[1][1].b"],
    [String.raw`{"a":1,"\u0061" : 2}`, "a"],
    [String.raw`{"a\\":1,"b":"\",\"b\":","b":2}`, "b"],
    ['{"weight kg":1,"weight kg":2}', '["weight kg"]'],
    ['{"__proto__":1,"__proto__":2}', "__proto__"],
    ['{"":1,"":2}', '[""]'],
    ['{"at":"2026-01-31T09:30:00Z","a":{"at":1},"at":"12:00"}', "at"],
    ['{"a":{"b":1},"a":{"b":1,"c":2}}', "a"],
    [`${'{"a":'.repeat(5000)}{"b":1,"b":2}${"}".repeat(5000)}`, `${"a.".repeat(11)}b`],
  ])("%.60s", (text, path) => {
    expect(find(text)).toBe(path);
  });
});

describe("finds no duplicate member in", () => {
  test.each([
    "{}",
    '["a:a",1,null]',
    '{"a":{"b":1},"c":{"b":1},"d":[{"b":1},{"b":1}]}',
    '{"a":"b:1,b:2","b":"{\\"b\\":1}"}',
    "[".repeat(10_000) + "]".repeat(10_000),
  ])("%.60s", (text) => {
    expect(find(text)).toBeUndefined();
  });

  test("any JSON that JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.array(fc.json({ maxDepth: 4 })), (texts) => {
        const list = texts.map((text) => JSON.stringify(JSON.parse(text)));
        expect(find(`[${list.join(",")}]`)).toBeUndefined();
      }),
    );
  });
});
