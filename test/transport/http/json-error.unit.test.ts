import fc from "fast-check";
import { expect, test } from "vitest";
import { describeJsonError } from "../../../src/transport/http/json-error.ts";

test.each([
  ['{"a": 1,}', 'unexpected "}" at line 1, column 9'],
  ["{'a': 1}", `unexpected "'" at line 1, column 2`],
  ['{"a": NaN}', 'unexpected "N" at line 1, column 7'],
  ['{"a": 01}', 'unexpected "1" at line 1, column 8'],
  ['{"a": -}', 'unexpected "-" at line 1, column 7'],
  ['{\n  "a": 1\n  "b": 2\n}', 'unexpected "\\"" at line 3, column 3'],
  ['{\r\n  "a": tru\r\n}', 'unexpected "t" at line 2, column 8'],
  ['{"a": "x\ny"}', 'unexpected "\\n" at line 1, column 9'],
  ['{"a": "\\x"}', 'unexpected "\\\\" at line 1, column 8'],
  ["{} // x", 'unexpected "/" at line 1, column 4'],
  ["[1, 2)", 'unexpected ")" at line 1, column 6'],
  ["[}", 'unexpected "}" at line 1, column 2'],
  ['{"a" 1}', 'unexpected "1" at line 1, column 6'],
  ["\ufeff{}", "unexpected U+FEFF at line 1, column 1"],
  ['{"a": 😀}', "unexpected U+1F600 at line 1, column 7"],
  ['{"a": 1', "it ends unexpectedly at line 1, column 8"],
  ['{"a": "b', "it ends unexpectedly at line 1, column 9"],
  ["[\n", "it ends unexpectedly at line 2, column 1"],
])("%j: %s", (text, error) => {
  expect(describeJsonError(text)).toBe(error);
});

test("the position is where JSON.parse fails, or the end for incomplete text", () => {
  const broken = fc
    .tuple(fc.json({ maxDepth: 4 }), fc.nat(), fc.nat(1), fc.constantFrom(...'{}[]:,"\\x1-.eE \n\u0001'))
    .map(([text, at, cut, put]) => {
      const index = at % (text.length + 1);
      return text.slice(0, index) + put + text.slice(index + cut);
    });
  let compared = 0;
  fc.assert(
    fc.property(broken, (text) => {
      const message = faultOfEngine(text);
      const error = describeJsonError(text);
      if (message === undefined) expect(error).toMatch(/^it ends unexpectedly/);
      const [, line, column] = MISSED.exec(message ?? "") ?? [];
      if (line === undefined) return;
      compared++;
      expect(error.endsWith(` at line ${line}, column ${column}`), `${message}: ${error}`).toBe(true);
    }),
    { numRuns: 2_000, seed: 1 },
  );
  expect(compared).toBeGreaterThan(500);
});

test("takes linear time for a text of many megabytes", () => {
  expect(describeJsonError(`["${"x".repeat(5_000_000)}"${',""'.repeat(500_000)}`)).toBe(
    "it ends unexpectedly at line 1, column 6500004",
  );
  expect(describeJsonError("[".repeat(1_000_000))).toBe("it ends unexpectedly at line 1, column 1000001");
});

/**
 * Matches the engine's errors with a comparable position. For a broken literal, the engine points
 * at the first wrong character, and some errors have no position.
 */
const MISSED = /^Expected .* \(line (\d+) column (\d+)\)$/;

function faultOfEngine(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
