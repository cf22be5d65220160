import { once } from "node:events";
import { expect, onTestFinished, test, vi } from "vitest";
import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { refuse, unavailable, type Refusal } from "../../../src/domain/refusal.ts";
import type { Caller } from "../../../src/pipeline/call.ts";
import type { StreamRpc } from "../../../src/pipeline/rpc.ts";
import { createExecuteStream } from "../../../src/pipeline/stages/execute-stream.ts";
import { callOf } from "../../support/call-of.ts";

/** Time after which the caller cancels, in milliseconds. */
const LEFT_AFTER_MS = 10_000;

test.for([
  ["who is refused", refuse("CREDENTIAL_REFUSED", "The key has ended."), "ends"],
  ["who cannot be looked up now", unavailable("Too many look-ups."), "continues"],
  [
    "whose address has reached its lookup limit",
    refuse("RATE_LIMITED", "Too many unknown keys.", { retryAfterSeconds: 1 }),
    "continues",
  ],
] as const)("the stream of a caller %s %3$s", async ([, refusal, outcome]) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const leaving = new AbortController();
  const reading = read(refusal, leaving.signal);
  await vi.advanceTimersByTimeAsync(LEFT_AFTER_MS);
  leaving.abort();
  expect(await reading).toEqual(outcome === "ends" ? refusal : "left");
});

test.for([
  ["a watch", EventService.method.watchEvents, unavailable("The service is shutting down. Reconnect.")],
  ["a file", ShipmentService.method.exportShipments, "left"],
] as const)("at shutdown, %s ends correctly", async ([, method, outcome]) => {
  const shutdown = new AbortController();
  const leaving = new AbortController();
  const passing = unavailable("Too many look-ups.");
  const reading = read(passing, leaving.signal, { method, shutdownSignal: shutdown.signal });
  shutdown.abort();
  // Gives the stream time to end before the caller cancels.
  await new Promise(setImmediate);
  leaving.abort();
  expect(await reading).toEqual(outcome);
});

/** Opens a stream whose caller loses access once it has begun. Returns how the stream ended. */
async function read(
  refusal: Refusal,
  signal: AbortSignal,
  {
    method = EventService.method.watchEvents,
    shutdownSignal = new AbortController().signal,
  }: { readonly method?: StreamRpc["method"]; readonly shutdownSignal?: AbortSignal } = {},
): Promise<unknown> {
  const execute = createExecuteStream({
    validatorOf: () => () => [],
    authenticate: () => Promise.reject<Caller>(refusal),
    shutdownSignal,
    onBehalfOf: (_, work) => work(),
  });
  const rpc = {
    audience: "workspace",
    method,
    async *run(_request: unknown, _call: unknown, ending: AbortSignal) {
      yield {};
      await once(ending, "abort");
    },
  } as unknown as StreamRpc;
  try {
    for await (const _ of execute(rpc, {} as never, callOf(1), signal));
    return "left";
  } catch (error) {
    return error;
  }
}
