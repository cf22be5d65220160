import { expect, test } from "vitest";
import { MAX_WINDOW, nextWindow } from "../../../src/features/webhooks/send-window.ts";

test("the window of a webhook grows by one with each success, up to its limit", () => {
  expect(nextWindow(4, true)).toBe(5);
  expect(nextWindow(MAX_WINDOW, true)).toBe(MAX_WINDOW);
});

test("each failure halves the window of a webhook, down to one attempt at a time", () => {
  const sizes = [64];
  while (sizes.at(-1)! > 1) sizes.push(nextWindow(sizes.at(-1)!, false));
  expect(sizes).toEqual([64, 32, 16, 8, 4, 2, 1]);
  expect(nextWindow(1, false)).toBe(1);
});
