import { expect, test } from "vitest";
import { holdHeapGrowth } from "../../../src/features/shipments/heap-growth.ts";

test("the heap's growth is held from the first call to the end of the last", () => {
  const flags: string[] = [];
  const setFlag = (flag: string) => void flags.push(flag);
  const [first, second] = [holdHeapGrowth(setFlag), holdHeapGrowth(setFlag)];
  first();
  expect(flags).toEqual(["--heap-growing-percent=40"]);
  second();
  expect(flags).toEqual(["--heap-growing-percent=40", "--heap-growing-percent=0"]);
});
