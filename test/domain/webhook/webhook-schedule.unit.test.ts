import { expect, test } from "vitest";
import {
  hasFailedTooLong,
  MAX_ATTEMPTS,
  nextWaitMs,
  parseRetryAfter,
} from "../../../src/domain/webhook/webhook-schedule.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;

test("attempts follow 0 s, 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h after one another", () => {
  const waits = Array.from({ length: 11 }, (_, made) => nextWaitMs(made, undefined, 0));
  const seconds = waits.map((wait) => wait && wait / SECOND);
  expect(seconds).toEqual([0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, undefined]);
  expect(MAX_ATTEMPTS).toBe(10);
});

test("jitter extends a wait by at most 10 % and never shortens it", () => {
  expect(nextWaitMs(2, undefined, 0.5)).toBe(315 * SECOND);
  expect(nextWaitMs(2, undefined, 1)).toBe(330 * SECOND);
});

test("a receiver can extend the wait to at most a day and cannot shorten it", () => {
  expect(nextWaitMs(1, HOUR, 0)).toBe(HOUR);
  expect(nextWaitMs(1, 30 * DAY, 0)).toBe(DAY);
  expect(nextWaitMs(2, SECOND, 0)).toBe(300 * SECOND);
  expect(nextWaitMs(10, HOUR, 0)).toBeUndefined();
});

test("Retry-After is read as seconds or a date, and anything else is ignored", () => {
  const now = new Date("2026-01-01T00:00:00Z");
  expect(parseRetryAfter("120", now)).toBe(120 * SECOND);
  expect(parseRetryAfter("Thu, 01 Jan 2026 01:00:00 GMT", now)).toBe(HOUR);
  expect(parseRetryAfter("Wed, 31 Dec 2025 00:00:00 GMT", now)).toBe(0);
  for (const nothing of [undefined, "", "soon", "-5", "1.5", "2026-01-02"]) {
    expect(parseRetryAfter(nothing, now)).toBeUndefined();
  }
});

test("a webhook has failed too long after five days", () => {
  const since = new Date("2026-01-01T00:00:00Z");
  expect(hasFailedTooLong(since, new Date(since.getTime() + 5 * DAY - 1))).toBe(false);
  expect(hasFailedTooLong(since, new Date(since.getTime() + 5 * DAY))).toBe(true);
});
