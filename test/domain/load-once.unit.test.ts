import { expect, test } from "vitest";
import { loadOnce } from "../../src/domain/load-once.ts";

test("loads on first use, retries after a failure, and then keeps the result", async () => {
  const outcomes = [Promise.reject(new Error("away")), Promise.resolve("loaded")];
  let loads = 0;
  const library = loadOnce(() => outcomes[loads++]!);
  expect([library.peek(), loads]).toEqual([undefined, 0]);
  const failing = [library.get(), library.get()];
  for (const each of failing) await expect(each).rejects.toThrow("away");
  expect([library.peek(), loads]).toEqual([undefined, 1]);
  expect(await Promise.all([library.get(), library.get(), library.peek()])).toEqual(
    Array.from({ length: 3 }, () => "loaded"),
  );
  expect([await library.get(), loads]).toEqual(["loaded", 2]);
});
