import { expect, test } from "vitest";
import type { Violation } from "../../../src/domain/refusal.ts";
import { compileDecodeParameters } from "../../../src/transport/http/parameters.ts";
import { describeEveryKind } from "../../support/every-kind.ts";

const compiled = compileDecodeParameters(describeEveryKind().fields);

/** Decodes a query, which must have only known parameters, into a JSON object. */
function decode(query: URLSearchParams) {
  const unknown: Violation[] = [];
  const json = compiled(query, unknown);
  expect(unknown).toEqual([]);
  return json;
}

test.each<[query: string, json: object]>([
  ["text=a%20b", { text: "a b" }],
  ["text=5", { text: "5" }],
  ["text=null", { text: "null" }],
  ["number=-1.5e2", { number: -150 }],
  ["small=7", { small: 7 }],
  ["large=9007199254740991", { large: 9007199254740991 }],
  ["flag=true&text=x", { flag: true, text: "x" }],
  ["flag=false", { flag: false }],
  ["color=dark_blue", { color: "dark_blue" }],
  ["at=2026-01-31T09%3A30%3A00Z", { at: "2026-01-31T09:30:00Z" }],
  ["texts=a", { texts: ["a"] }],
  ["texts=a&texts=b&texts=a", { texts: ["a", "b", "a"] }],
  ["colors=red&text=x&colors=dark_blue", { colors: ["red", "dark_blue"], text: "x" }],
  ["word=w", { word: "w" }],
])("the query %s is read as %j", (query, json) => {
  expect(decode(new URLSearchParams(query))).toEqual(json);
});

test.each([
  ["number=", { number: "" }],
  ["number=0x10", { number: "0x10" }],
  ["number=NaN", { number: "NaN" }],
  ["number=Infinity", { number: "Infinity" }],
  ["number=%201", { number: " 1" }],
  ["number=1_000", { number: "1_000" }],
  ["number=.5", { number: ".5" }],
  ["number=01", { number: "01" }],
  ["number=%2B1", { number: "+1" }],
  ["small=five", { small: "five" }],
  ["flag=TRUE", { flag: "TRUE" }],
  ["flag=1", { flag: "1" }],
  ["point=x", { point: "x" }],
])("the query %s does not match the field's type and stays text, which is refused later", (query, json) => {
  expect(decode(new URLSearchParams(query))).toEqual(json);
});

test("refuses a repeated parameter unless its field is repeated", () => {
  const refused: Violation[] = [];
  compiled(new URLSearchParams("text=a&small=1&text=b&texts=a&texts=b&text=c"), refused);
  const text = "text must be given only once.";
  expect(refused).toEqual([{ reason: "FIELD_INVALID", subject: "text", text }]);
});

test("names unknown query parameters, limited in number and length", () => {
  const unknown: Violation[] = [];
  const query = new URLSearchParams("flags=true&flag=true&__proto__=x&constructor=y&smallCount=1");
  expect(compiled(query, unknown)).toEqual({ flag: true });
  expect(unknown.map(({ subject }) => subject)).toEqual(["flags", "__proto__", "constructor", "smallCount"]);
  const [{ text }] = unknown as [Violation];
  expect(text).toMatch(/^flags is not a query parameter of this call, which takes number, maybe, /);

  const many: Violation[] = [];
  compiled(
    Array.from({ length: 1_000 }, (_, i) => [`${i}`.padEnd(5_000, "x"), ""] as const),
    many,
  );
  expect(many.map(({ subject }) => subject!.length)).toEqual(Array(20).fill(101));
});
