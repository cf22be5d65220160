import { expect, test } from "vitest";
import { holdHeapGrowth } from "../../../src/features/shipments/heap-growth.ts";

test("limits the heap's growth from the first call until the last one ends", () => {
  const flags: string[] = [];
  const setFlag = (flag: string) => void flags.push(flag);
  const [first, second] = [holdHeapGrowth(setFlag), holdHeapGrowth(setFlag)];
  first();
  expect(flags).toEqual(["--heap-growing-percent=40"]);
  second();
  expect(flags).toEqual(["--heap-growing-percent=40", "--heap-growing-percent=0"]);
});
