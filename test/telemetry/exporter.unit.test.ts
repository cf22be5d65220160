import { expect, test } from "vitest";
import { createFailureLog } from "../../src/telemetry/exporter.ts";

test("logs failures once a minute with the number of suppressed ones", () => {
  const lines: unknown[] = [];
  let nowMs = 5;
  const failures = createFailureLog({ warn: (...line: unknown[]) => lines.push(line) }, () => nowMs);
  failures.warn("the first");
  for (let i = 0; i < 100; i++) failures.warn("another");
  nowMs += 60_000;
  failures.warn("the last");
  expect(lines).toEqual([
    [{ notLogged: 0 }, "tracing: the first"],
    [{ notLogged: 100 }, "tracing: the last"],
  ]);
});
