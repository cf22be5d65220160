import { expect, test, vi } from "vitest";
import { holdHeapGrowth } from "../../../src/features/shipments/heap-growth.ts";

const flags = vi.hoisted<string[]>(() => []);
vi.mock("node:v8", () => ({ setFlagsFromString: (flag: string) => flags.push(flag) }));

test("the heap's growth is held from the first call to the end of the last", () => {
  const [first, second] = [holdHeapGrowth(), holdHeapGrowth()];
  first();
  expect(flags).toEqual(["--heap-growing-percent=40"]);
  second();
  expect(flags).toEqual(["--heap-growing-percent=40", "--heap-growing-percent=0"]);
});
