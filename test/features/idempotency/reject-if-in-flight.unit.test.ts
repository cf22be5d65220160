import { expect, test } from "vitest";
import { createRejectIfInFlight } from "../../../src/features/idempotency/with-idempotency.ts";
import type { AnyCall } from "../../../src/pipeline/call.ts";

test("rejects a call while another one of the same account with its key is in flight", async () => {
  const rejectIfInFlight = createRejectIfInFlight();
  const callOf = (account: string, idempotencyKey?: string) => ({ caller: { account }, idempotencyKey }) as AnyCall;
  const { promise: work, resolve: end } = Promise.withResolvers<string>();
  const first = rejectIfInFlight(callOf("1", "a"), () => work);
  await expect(rejectIfInFlight(callOf("1", "a"), () => work)).rejects.toMatchObject({
    reason: "IDEMPOTENCY_KEY_IN_USE",
  });
  const others = [callOf("1", "b"), callOf("2", "a"), callOf("1"), callOf("1")];
  const answers = others.map((call) => rejectIfInFlight(call, () => work));
  end("done");
  expect(await Promise.all([first, ...answers])).toEqual(Array(5).fill("done"));
  expect(await rejectIfInFlight(callOf("1", "a"), async () => "again")).toBe("again");
});
