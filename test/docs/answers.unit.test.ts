import { expect, test } from "vitest";
import { formatAnswer, parseAnswer, showAnswer } from "./answers.ts";

const ANSWER = {
  data: { reference: "SHP-000000000001", status: "paid", total: 12.69, etag: "2" },
  created_at: "2030-01-02T03:04:05.678Z",
};

function shownAs(guide: string): unknown {
  return showAnswer(parseAnswer(guide), ANSWER);
}

test("compares variable values by their form and keeps them as in the guide", () => {
  const guide = `{
    "data": { "reference": "SHP-4T8ZK2M0QWXE", "status": "paid", "etag": "1", ... },
    "created_at": "2026-11-21T09:30:00.000Z"
  }`;
  expect(shownAs(guide)).toEqual(parseAnswer(guide));
});

test("replaces wrong and missing values with those of the response", () => {
  expect(shownAs('{ "data": { "status": "sent", ... }, ... }')).toEqual(
    parseAnswer('{ "data": { "status": "paid", ... }, ... }'),
  );
  expect(shownAs('{ "data": { "status": "paid" }, ... }')).toEqual(
    parseAnswer('{ "data": { "reference": "SHP-4T8ZK2M0QWXE", "status": "paid", "total": 12.69, "etag": "2" }, ... }'),
  );
  expect(shownAs('{ "data": { "price": 1, ... }, ... }')).toEqual({
    data: { "...": "..." },
    "...": "...",
  });
});

test("prints a parsed answer unchanged", () => {
  const text = '{\n  "data": [{ "id": 1, ... }, ...],\n  "text": "a ... [b",\n  ...\n}';
  expect(formatAnswer(parseAnswer(text))).toBe(text);
});
