import { expect, test } from "vitest";
import { payloadChanges } from "../../src/dashboard/webhooks/payload-changes.ts";

test("lists added, removed and changed values of nested objects and lists", () => {
  const before = { same: [1, { a: null }], status: "pending", customer: { name: "Ada" }, items: ["a", "b"], gone: {} };
  const after = {
    same: [1, { a: null }],
    status: "paid",
    customer: { name: "Ada", phone: "1" },
    items: ["a"],
    gone: null,
  };
  expect(payloadChanges(before, after)).toEqual([
    { field: "status", before: '"pending"', after: '"paid"' },
    { field: "customer.phone", before: undefined, after: '"1"' },
    { field: "gone", before: undefined, after: "null" },
    { field: "items.1", before: '"b"', after: undefined },
  ]);
});
