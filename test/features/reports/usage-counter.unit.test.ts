import { expect, test } from "vitest";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { createUsageCounter } from "../../../src/features/reports/usage-counter.ts";
import type { LimitClass } from "../../../src/domain/rate-limit.ts";
import type { AnyCall } from "../../../src/pipeline/call.ts";
import { localCall } from "../../../src/pipeline/local-call.ts";
import { callOf } from "../../support/call-of.ts";

function callIn(workspace: number, limitClass: LimitClass): AnyCall {
  const call = callOf(workspace);
  call.received.rateLimit = { ...call.received.rateLimit!, limitClass };
  return call;
}

test("counts calls by workspace and class, and lists them in that order", () => {
  const counter = createUsageCounter();
  for (const limitClass of ["write", "read", "read"] as const) counter.count(callIn(20, limitClass));
  counter.count(callIn(3, "quote"));
  expect(counter.unwritten()).toEqual([
    { workspace: 3, limitClass: "quote", calls: 1 },
    { workspace: 20, limitClass: "read", calls: 2 },
    { workspace: 20, limitClass: "write", calls: 1 },
  ]);
  expect(counter.unwrittenOf(20)).toEqual({ quote: 0, read: 2, write: 1, preview: 0 });
  expect(counter.unwrittenOf(4)).toEqual({ quote: 0, read: 0, write: 0, preview: 0 });
});

test("does not count calls without a known caller or a rate limit", () => {
  const counter = createUsageCounter();
  counter.count(localCall(OperatorService.method.createOperator, "service", "demo"));
  const uncounted = callOf(1);
  uncounted.received.rateLimit = undefined;
  counter.count(uncounted);
  expect(counter.unwritten()).toEqual([]);
});

test("keeps calls that are counted during a write", () => {
  const counter = createUsageCounter();
  counter.count(callIn(1, "read"));
  counter.count(callIn(2, "read"));
  const writing = counter.unwritten();
  counter.count(callIn(1, "read"));
  counter.written(writing);
  expect(counter.unwritten()).toEqual([{ workspace: 1, limitClass: "read", calls: 1 }]);
});

test("memory is bounded: calls of further workspaces are not counted until others are written", () => {
  const counter = createUsageCounter(2);
  for (const workspace of [1, 2, 3, 1]) counter.count(callIn(workspace, "read"));
  const counted = [
    { workspace: 1, limitClass: "read", calls: 2 },
    { workspace: 2, limitClass: "read", calls: 1 },
  ];
  expect(counter.unwritten()).toEqual(counted);
  counter.written(counter.unwritten());
  counter.count(callIn(3, "read"));
  expect(counter.unwritten()).toEqual([{ workspace: 3, limitClass: "read", calls: 1 }]);
});
