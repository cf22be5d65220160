import { expect, test } from "vitest";
import { matchedPart, searchQuery, searchTerms } from "../../src/domain/search-text.ts";

test.each([
  ["", ""],
  ["% !", ""],
  ["bedford ave", "'/bedford' & '/ave':*"],
  ["O’Brien’s", "'/O' & '/Brien' & '/s':*"],
  ["' & !x:*\\", "'/x':*"],
  ["Ada 0123", "'/Ada' & ('/0123':* | '/←3210':*)"],
  ["123 Ada", "'/123' & '/Ada':*"],
  ["order-47111234", "'/order' & ('/47111234':* | '/←43211174':*)"],
  ["A4711123456", "'/A4711123456':*"],
])("converts %j to the query %j", (text, query) => {
  expect(searchQuery(searchTerms(text))).toBe(query);
});

test.each([
  "+12125550123",
  "+1 (212) 555-0123",
  "001 212.555.0123",
  "(212) 555-0123",
  "555-0123",
  "0123",
  "+1 212 555",
])("%j finds the phone number +12125550123", (text) => {
  expect(matchedPart(searchTerms(text), "+12125550123")).toBe("+12125550123");
});

test.each(["0172 123 45 67", "+49 (0)172 1234567", "172/1234567", "+49 172 1234567"])(
  "%j finds the phone number +49 172 1234567",
  (text) => {
    expect(matchedPart(searchTerms(text), "+49 172 1234567")).toBe("+49 172 1234567");
  },
);

test.each([
  ["ave", "12 Bedford Avenue", "12 Bedford Avenue"],
  ["ave x", "12 Bedford Avenue", undefined],
  ["edford", "12 Bedford Avenue", undefined],
  ["word", `${"x".repeat(300)} word`, `…${"x".repeat(59)} word`],
  ["x", `x ${"y".repeat(300)}`, `x ${"y".repeat(198)}…`],
])("%j matches %j with the excerpt %j", (text, value, part) => {
  expect(matchedPart(searchTerms(text), value)).toBe(part);
});
