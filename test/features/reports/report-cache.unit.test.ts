import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createReportCache } from "../../../src/features/reports/report-cache.ts";

/** Duration of a computation whose response is cached, in milliseconds. */
const SLOW_MS = 150;

function countedReports(tookMs: number) {
  const answers = createReportCache<{ n: number }>();
  let n = 0;
  return (key: string) =>
    answers.get(key, async () => {
      const answer = { n: ++n };
      await sleep(tookMs);
      return answer;
    });
}

test("caches a slow response under its key only", async () => {
  const get = countedReports(SLOW_MS);
  expect(await get("a")).toEqual({ n: 1 });
  expect(await get("a")).toEqual({ n: 1 });
  expect(await get("b")).toEqual({ n: 2 });
});

test("computes a slow response once for all concurrent callers", async () => {
  const get = countedReports(SLOW_MS);
  expect(await Promise.all([get("a"), get("a"), get("a")])).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }]);
});

test("does not cache a failed computation", async () => {
  const answers = createReportCache<{ n: number }>();
  const failing = async () => {
    await sleep(SLOW_MS);
    throw new Error("away");
  };
  await expect(answers.get("a", failing)).rejects.toThrow("away");
  expect(await answers.get("a", async () => ({ n: 1 }))).toEqual({ n: 1 });
});
