import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { expect, test, vi } from "vitest";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { ShipmentService } from "../../gen/shipments/v1/shipment_service_pb.js";
import { createCalls } from "../../src/client/calls.ts";
import { retryCalls, type RetryOptions } from "../../src/client/retry-calls.ts";
import type { ShipmentsError } from "../../src/client/shipments-error.ts";
import { wait } from "../../src/client/wait.ts";

const KEY = "idempotency-key";

/** Creates a refusal by the service. Without a reason, creates the error of a broken connection. */
function refusal(code: Code, reason?: string, headers: Record<string, string> = {}): ConnectError {
  const value = { reason, domain: "shipments.v1" };
  const details = reason === undefined ? [] : [{ desc: ErrorInfoSchema, value }];
  return new ConnectError("refused", code, headers, details);
}

/**
 * Calls a service that fails with these errors and then succeeds. Waits take no real time.
 *
 * @returns the calls with their idempotency keys, the waits, and the outcome
 */
async function callWith(
  failures: readonly ConnectError[],
  options: {
    readonly method?: "getShipment" | "cancelShipment";
    readonly retry?: RetryOptions;
    readonly timeoutMs?: number;
    readonly idempotencyKey?: string;
  } = {},
) {
  const keys: (string | null)[] = [];
  const waitsMs: number[] = [];
  const left = [...failures];
  const answer = (_: unknown, { requestHeader }: { requestHeader: Headers }) => {
    keys.push(requestHeader.get(KEY));
    const failure = left.shift();
    if (failure !== undefined) throw failure;
    return {};
  };
  const server = createRouterTransport(({ service }) =>
    service(ShipmentService, { getShipment: answer, cancelShipment: answer }),
  );
  const transport = retryCalls(server, options.retry, async (ms) => void waitsMs.push(ms));
  const { method = "getShipment", timeoutMs, idempotencyKey } = options;
  const shipments = createCalls(ShipmentService, transport);
  const ended = await shipments[method]({ shipment: "SHP-1" }, { timeoutMs, idempotencyKey }).then(
    () => "answered",
    (error: ShipmentsError) => error.reason ?? Code[error.code],
  );
  return { keys, waitsMs, ended };
}

const UNAVAILABLE = refusal(Code.Unavailable, "UNAVAILABLE");

test.each([
  ["a broken connection", refusal(Code.Unavailable)],
  ["a timed-out response", refusal(Code.DeadlineExceeded)],
  ["UNAVAILABLE", UNAVAILABLE],
  ["RATE_LIMITED", refusal(Code.ResourceExhausted, "RATE_LIMITED")],
  ["DEADLINE_EXCEEDED", refusal(Code.DeadlineExceeded, "DEADLINE_EXCEEDED")],
  ["IDEMPOTENCY_KEY_IN_USE", refusal(Code.Aborted, "IDEMPOTENCY_KEY_IN_USE")],
])("retries after %s", async (_, failure) => {
  const { keys, ended } = await callWith([failure, failure]);
  expect({ keys, ended }).toEqual({ keys: [null, null, null], ended: "answered" });
});

test.each([
  ["INTERNAL", refusal(Code.Internal, "INTERNAL")],
  ["BODY_TOO_LARGE", refusal(Code.ResourceExhausted, "BODY_TOO_LARGE")],
  ["ETAG_STALE", refusal(Code.Aborted, "ETAG_STALE")],
  ["SHIPMENT_NOT_FOUND", refusal(Code.NotFound, "SHIPMENT_NOT_FOUND")],
  ["Unauthenticated", refusal(Code.Unauthenticated)],
  ["Unknown", refusal(Code.Unknown)],
  ["Internal", refusal(Code.Internal)],
  ["Canceled", refusal(Code.Canceled)],
])("does not retry after %s", async (ended, failure) => {
  expect(await callWith([failure])).toEqual({ keys: [null], waitsMs: [], ended });
});

test("a retried write keeps its idempotency key, and another write gets another key", async () => {
  const failures = [UNAVAILABLE, UNAVAILABLE];
  const one = await callWith(failures, { method: "cancelShipment" });
  const other = await callWith(failures, { method: "cancelShipment" });
  const keys = [...new Set([...one.keys, ...other.keys])];
  expect(keys).toEqual([one.keys[0], other.keys[0]]);
  expect(keys).toEqual([expect.stringMatching(/^(\d+-){3}\d+$/), expect.any(String)]);
  const { keys: sentKeys } = await callWith(failures, {
    method: "cancelShipment",
    idempotencyKey: "a",
  });
  expect(sentKeys).toEqual(["a", "a", "a"]);
});

test("a write gets an idempotency key if randomUUID is unavailable", async () => {
  vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) });
  const { keys, ended } = await callWith([], { method: "cancelShipment" });
  expect({ keys, ended }).toEqual({ keys: [expect.any(String)], ended: "answered" });
  vi.unstubAllGlobals();
});

test.each([Infinity, 2 ** 31])("a call with a timeout of %d ms has no time limit", async (timeoutMs) => {
  const busy = refusal(Code.Unavailable, "UNAVAILABLE", { "retry-after": "9999999" });
  expect((await callWith([busy], { timeoutMs })).ended).toBe("answered");
});

test("does not send changes that the caller makes to a request during retries", async () => {
  const sent: unknown[] = [];
  const server = createRouterTransport(({ service }) =>
    service(ShipmentService, {
      createShipment({ weightKg, metadata, pickupWindow }) {
        sent.push({ weightKg, metadata: { ...metadata }, start: pickupWindow?.start?.seconds });
        throw UNAVAILABLE;
      },
    }),
  );
  const start = create(TimestampSchema, { seconds: 1n });
  const request = { weightKg: 2, metadata: { order: "1" }, pickupWindow: { start } };
  const transport = retryCalls(server, { attempts: 3 }, async () => {
    request.weightKg = 3;
    request.metadata.order = "2";
    start.seconds = 2n;
  });
  const { createShipment } = createCalls(ShipmentService, transport);
  await expect(createShipment(request)).rejects.toThrow("refused");
  const asGiven = { weightKg: 2, metadata: { order: "1" }, start: 1n };
  expect(sent).toEqual([asGiven, asGiven, asGiven]);
});

test("the backoff grows up to a maximum and is jittered", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  const failures = Array(5).fill(UNAVAILABLE);
  const retry = { baseMs: 100, maxMs: 500 };
  const { waitsMs, ended } = await callWith(failures, { retry });
  expect({ waitsMs, ended }).toEqual({ waitsMs: [50, 100, 200, 250, 250], ended: "answered" });
  vi.restoreAllMocks();
});

test("waits as long as Retry-After requests, plus jitter", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  const busy = refusal(Code.Unavailable, "UNAVAILABLE", { "retry-after": "3" });
  expect((await callWith([busy], { retry: { baseMs: 100 } })).waitsMs).toEqual([3_050]);
  vi.restoreAllMocks();
});

test("waits as long as Retry-After requests if a call is refused by a limit other than that of its class", async () => {
  const headers = { "retry-after": "3", ratelimit: '"read";r=9;t=1' };
  const limited = refusal(Code.ResourceExhausted, "RATE_LIMITED", headers);
  const { waitsMs } = await callWith([limited], { retry: { baseMs: 0 } });
  expect(waitsMs).toEqual([3_000]);
});

test("accepts a date in Retry-After", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0);
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-12-01T12:00:00Z") });
  const busyUntil = (date: string) => refusal(Code.Unavailable, "UNAVAILABLE", { "retry-after": date });
  const failures = [
    busyUntil("Tue, 01 Dec 2026 12:00:07 GMT"),
    busyUntil("Tue, 01 Dec 2026 11:59:00 GMT"),
    busyUntil("soon"),
  ];
  expect((await callWith(failures)).waitsMs).toEqual([7_000, 0, 0]);
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test("a wait of more than 24 days does not return early", async () => {
  vi.useFakeTimers();
  let isOver = false;
  void wait(2 ** 40, undefined).then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(1_000_000);
  expect(isOver).toBe(false);
  vi.useRealTimers();
});

test("the call fails with the error of its last attempt", async () => {
  const { keys, ended } = await callWith(Array(9).fill(UNAVAILABLE), {
    retry: { attempts: 3 },
  });
  expect({ keys, ended }).toEqual({ keys: [null, null, null], ended: "UNAVAILABLE" });
});

test("does not wait if the call would time out first", async () => {
  const busy = refusal(Code.Unavailable, "UNAVAILABLE", { "retry-after": "30" });
  const ended = { keys: [null], waitsMs: [], ended: "UNAVAILABLE" };
  expect(await callWith([busy], { timeoutMs: 20_000 })).toEqual(ended);
  expect((await callWith([busy], { timeoutMs: 0 })).ended).toBe("answered");
});

/** Creates calls to a service whose responses have these `RateLimit` headers. Waits advance the clock. */
function limitedCalls(answers: readonly { limit: string; code?: string }[]) {
  const left = [...answers];
  const seen = { sent: [] as string[], waitsMs: [] as number[] };
  const answer = (name: string) => (_: unknown, context: { responseHeader: Headers }) => {
    seen.sent.push(name);
    const { limit, code } = left.shift() ?? { limit: '"read";r=9;t=1' };
    if (code !== undefined) throw refusal(Code.ResourceExhausted, code, { ratelimit: limit });
    context.responseHeader.set("ratelimit", limit);
    return {};
  };
  const server = createRouterTransport(({ service }) =>
    service(ShipmentService, {
      getShipment: answer("get"),
      listShipments: answer("list"),
      cancelShipment: answer("cancel"),
    }),
  );
  const transport = retryCalls(server, { attempts: 1 }, async (ms) => {
    seen.waitsMs.push(ms);
    vi.advanceTimersByTime(ms);
  });
  return { seen, ...createCalls(ShipmentService, transport) };
}

const REFUSED = { limit: '"read";r=0;t=2', code: "RATE_LIMITED" };

test("delays calls of a rate-limited class, but not other calls", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const { seen, getShipment, listShipments, cancelShipment } = limitedCalls([
    { limit: '"read";r=1;t=1' },
    { limit: '"write";r=1;t=1' },
    REFUSED,
  ]);
  await listShipments({});
  await cancelShipment({ shipment: "SHP-1" });
  await expect(getShipment({ shipment: "SHP-1" })).rejects.toThrow("refused");
  await cancelShipment({ shipment: "SHP-1" });
  expect(seen.waitsMs).toEqual([]);
  await listShipments({});
  await getShipment({ shipment: "SHP-1" });
  expect(seen.waitsMs).toEqual([2_000]);
  vi.useRealTimers();
});

test.each([
  ["answered", 0, undefined],
  ["refused for another reason", 0, "SHIPMENT_NOT_FOUND"],
  ["refused by another limit", 9, "RATE_LIMITED"],
])("does not delay a call if the last call of its class was %s", async (_, remaining, code) => {
  // `t` is the time in seconds until the class's bucket is full.
  const last = { limit: `"read";r=${remaining};t=60`, ...(code && { code }) };
  const { seen, getShipment } = limitedCalls([last]);
  await getShipment({ shipment: "SHP-1" }).catch(() => {});
  await getShipment({ shipment: "SHP-1" });
  expect(seen).toEqual({ sent: ["get", "get"], waitsMs: [] });
});

test("does not send a call that would time out before the rate limit allows it", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const { seen, getShipment } = limitedCalls([REFUSED]);
  await expect(getShipment({ shipment: "SHP-1" })).rejects.toThrow("refused");
  const late = getShipment({ shipment: "SHP-1" }, { timeoutMs: 2_000 });
  await expect(late).rejects.toMatchObject({ reason: undefined, code: Code.DeadlineExceeded });
  expect(seen).toEqual({ sent: ["get"], waitsMs: [] });
  await getShipment({ shipment: "SHP-1" }, { timeoutMs: 2_001 });
  expect(seen).toEqual({ sent: ["get", "get"], waitsMs: [2_000] });
  vi.useRealTimers();
});

test("does not retry a call after its waits have used up its timeout", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  let sent = 0;
  const server = createRouterTransport(({ service }) =>
    service(ShipmentService, {
      cancelShipment() {
        sent++;
        throw refusal(Code.Unavailable, "UNAVAILABLE", { "retry-after": "1" });
      },
    }),
  );
  const transport = retryCalls(server, { baseMs: 0 }, async () => void vi.advanceTimersByTime(5_000));
  const { cancelShipment } = createCalls(ShipmentService, transport);
  const options = { timeoutMs: 2_000, idempotencyKey: "a" };
  const late = cancelShipment({ shipment: "SHP-1" }, options);
  const reason = "UNAVAILABLE";
  await expect(late).rejects.toMatchObject({ reason, attempts: 1, idempotencyKey: "a" });
  expect(sent).toBe(1);
  vi.useRealTimers();
});

test("80 concurrent calls succeed at 5 calls a second", async () => {
  vi.useFakeTimers();
  const startMs = performance.now();
  let used = 0;
  let refused = 0;
  const server = createRouterTransport(({ service }) =>
    service(ShipmentService, {
      cancelShipment() {
        const admitted = 5 + Math.floor((performance.now() - startMs) / 200);
        if (used++ < admitted) return {};
        used--;
        refused++;
        const limit = { ratelimit: '"write";r=0;t=1', "ratelimit-policy": '"write";q=5;w=1' };
        throw refusal(Code.ResourceExhausted, "RATE_LIMITED", limit);
      },
    }),
  );
  const { cancelShipment } = createCalls(ShipmentService, retryCalls(server, { attempts: 2 }));
  const calls = Array.from({ length: 80 }, () => cancelShipment({ shipment: "SHP-1" }));
  const ended = Promise.allSettled(calls);
  await vi.advanceTimersByTimeAsync(30_000);
  const failed = (await ended).filter(({ status }) => status === "rejected");
  expect({ failed, used, refused }).toEqual({ failed: [], used: 80, refused: 75 });
  vi.useRealTimers();
});

test("does not retry a rate-limited call if retries are disabled", async () => {
  const limit = { ratelimit: '"read";r=0;t=1' };
  const limited = refusal(Code.ResourceExhausted, "RATE_LIMITED", limit);
  const ended = await callWith([limited], { retry: { attempts: 1 } });
  expect(ended).toEqual({ keys: [null], waitsMs: [], ended: "RATE_LIMITED" });
});

test.each([
  [undefined, 10_000],
  [60_000, 20_000],
  [5_000, 5_000],
  [0, 0],
])("with a timeout of %d ms, an attempt takes at most %d ms", async (timeoutMs, attemptMs) => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const limitsMs: (number | undefined)[] = [];
  const server = createRouterTransport(({ service }) => service(ShipmentService, { getShipment: () => ({}) }));
  const transport = retryCalls({
    ...server,
    unary(method, signal, limitMs, headers, message) {
      limitsMs.push(limitMs);
      return server.unary(method, signal, undefined, headers, message);
    },
  });
  const { getShipment } = createCalls(ShipmentService, transport);
  await getShipment({ shipment: "SHP-1" }, { timeoutMs });
  expect(limitsMs).toEqual([attemptMs]);
  vi.useRealTimers();
});

test("does not retry a call that is cancelled while it waits", async () => {
  const controller = new AbortController();
  let calls = 0;
  const server = createRouterTransport(({ service }) =>
    service(ShipmentService, {
      getShipment() {
        calls++;
        queueMicrotask(() => setImmediate(() => controller.abort(new Error("enough"))));
        throw refusal(Code.Unavailable, "UNAVAILABLE", { "retry-after": "20" });
      },
    }),
  );
  const { getShipment } = createCalls(ShipmentService, retryCalls(server));
  const call = getShipment({ shipment: "SHP-1" }, { signal: controller.signal });
  await expect(call).rejects.toMatchObject({ reason: undefined, code: Code.Canceled });
  expect(calls).toBe(1);
});
