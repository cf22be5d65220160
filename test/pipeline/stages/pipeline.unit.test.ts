import { setImmediate } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { Registry } from "@prometheus-io/client";
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { GetShipmentRequestSchema, ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { readCallHeaders } from "../../../src/pipeline/call-headers.ts";
import { receiveCall } from "../../../src/pipeline/call.ts";
import { createMemoryLimiter } from "../../../src/pipeline/bounds/rate-limiter.ts";
import { createPipeline } from "../../../src/pipeline/stages/pipeline.ts";
import type { Rpc } from "../../../src/pipeline/rpc.ts";
import { eventually } from "../../support/eventually.ts";
import { callOf } from "../../support/call-of.ts";

const REQUEST = create(GetShipmentRequestSchema, { shipment: "SHP-000000000000" });
const ANSWER = create(GetShipmentRequestSchema, { shipment: "SHP-000000000001" });

/** Creates a pipeline with a single RPC. Each key is the number of its workspace. */
function startPipeline(run: Rpc["run"]) {
  const rpc: Rpc = {
    method: ShipmentService.method.getShipment,
    name: "GetShipment",
    audience: "workspace",
    minimumRole: "viewer",
    minimumMemberRole: "viewer",
    mode: undefined,
    maxRequestBytes: 65_536,
    refusalReasons: new Set(),
    forCouriers: false,
    forCourierLinks: false,
    limitClass: "read",
    readOnly: true,
    run,
  };
  const callerOf = (apiKey: string) => callOf(Number(apiKey)).caller;
  const lookup = { recall: callerOf, find: async (apiKey: string) => callerOf(apiKey) };
  const log = pino({ level: "silent" });
  const pipeline = createPipeline({
    rpcs: [rpc],
    streams: [],
    keys: { workspace: lookup, operator: { recall: () => undefined, find: async () => undefined } },
    sessions: { find: async () => undefined, findCourier: async () => undefined },
    clientAddress: () => "",
    isHttps: false,
    shutdownSignal: new AbortController().signal,
    endSignal: new AbortController().signal,
    refusalOf: () => undefined,
    onBehalfOf: (_, work) => work(),
    onRateLimited: () => undefined,
    limiter: createMemoryLimiter(() => 0),
    countUsage: () => undefined,
    logRequest: () => undefined,
    log,
    registry: new Registry(),
  });
  const admit = async (workspaceId: number) =>
    pipeline.admit(rpc, receiveCall(readCallHeaders(["X-Api-Key", `${workspaceId}`]), {}));
  return { rpc, pipeline, admit };
}

test("calls beyond a workspace's share of a process wait, and other workspaces' calls do not", async () => {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const { rpc, pipeline } = startPipeline((_, { caller }) => {
    begun.push(caller.account as number);
    return new Promise((resolve) => ends.push(() => resolve(ANSWER)));
  });
  const execute = async (workspaceId: number) => pipeline.execute(rpc, { request: REQUEST }, callOf(workspaceId));
  const calls = Array.from({ length: 252 }, () => execute(1));
  calls.push(execute(2));
  expect(begun).toEqual([...Array.from({ length: 250 }, () => 1), 2]);
  ends.shift()!();
  await calls[0];
  await eventually("the next call", () => begun.length === 252);
  for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
    end();
    await setImmediate();
  }
  expect(await Promise.all(calls)).toEqual(calls.map(() => ANSWER));
});

test("calls count as in flight until their work finishes, even after their callers have disconnected", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const work = Promise.withResolvers<never>();
  const { rpc, pipeline, admit } = startPipeline(() => work.promise);
  const leaveSoon = async (_: unknown, i: number) => {
    const call = callOf(1 + Math.floor(i / 250));
    call.received.deadlineMs = performance.now() + 20;
    await pipeline.execute(rpc, { request: REQUEST }, call);
  };

  const leaving = Promise.allSettled(Array.from({ length: 1_000 }, leaveSoon));
  await vi.advanceTimersByTimeAsync(20);
  const left = await leaving;
  expect(left.every(({ status }) => status === "rejected")).toBe(true);
  await expect(admit(5)).rejects.toThrow("The service is overloaded. Try again in a moment.");
  work.reject(new Error("the work ended"));
  await work.promise.catch(() => undefined);
  expect(await admit(5)).toMatchObject({ caller: { workspaceId: 5 } });
});
