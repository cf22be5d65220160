import { expect, test } from "vitest";
import type { AnyCall } from "../../../src/pipeline/call.ts";
import type { Rpc } from "../../../src/pipeline/rpc.ts";
import { createExecute } from "../../../src/pipeline/stages/execute.ts";
import { callOf } from "../../support/call-of.ts";

test("immediately refuses a call whose deadline has passed", () => {
  const execute = createExecute({
    validatorOf: () => () => [],
    inFlightLimit: { run: () => expect.fail("it was let in") },
    onBehalfOf: (_, work) => work(),
  });
  const { received, ...rest } = callOf(1);
  const headers = { ...received.headers, idempotencyKeys: ["one", "two"] };
  const call: AnyCall = { ...rest, received: { ...received, headers, deadlineMs: 0 } };
  const rpc = { limitClass: "write", readOnly: false } as Rpc;
  expect(() => execute(rpc, { request: {} as never }, call)).toThrow(
    expect.objectContaining({ reason: "DEADLINE_EXCEEDED" }),
  );
});
