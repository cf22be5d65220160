import { expect, test } from "vitest";
import { LINK_STREAMS } from "../../../src/pipeline/bounds/limits.ts";
import { createStreamSlots } from "../../../src/transport/http/tracking-stream.ts";

const times = (count: number) => Array.from({ length: count }, (_, i) => i);
const reasonOf = (take: () => unknown) => {
  try {
    take();
  } catch (error) {
    return (error as { reason: string }).reason;
  }
  return undefined;
};

test("limits streams per link, address and process until some end", () => {
  const take = createStreamSlots();
  const ofLink = times(LINK_STREAMS.ofLink).map((i) => take("link", `10.0.0.${i}`));
  expect(reasonOf(() => take("link", "10.0.1.1"))).toBe("RATE_LIMITED");
  ofLink[0]!();
  expect(reasonOf(() => take("link", "10.0.1.1"))).toBeUndefined();

  const ofAddress = times(LINK_STREAMS.ofAddress).map((i) => take(`link ${i}`, `2001:db8::${i}`));
  expect(reasonOf(() => take("another", "2001:db8::ffff"))).toBe("RATE_LIMITED");
  expect(reasonOf(() => take("another", "2001:db8:1::1"))).toBeUndefined();
  for (const end of ofAddress) end();
  expect(reasonOf(() => take("another", "2001:db8::ffff"))).toBeUndefined();
});

test("limits a process's streams so that a proxy has connections left for calls", () => {
  const take = createStreamSlots();
  const all = times(LINK_STREAMS.ofProcess).map((i) => take(`link ${i}`, `address ${i}`));
  expect(reasonOf(() => take("one more", "elsewhere"))).toBe("UNAVAILABLE");
  all[0]!();
  expect(reasonOf(() => take("one more", "elsewhere"))).toBeUndefined();
});
