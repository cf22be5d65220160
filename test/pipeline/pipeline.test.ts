import { create } from "@bufbuild/protobuf";
import { Registry } from "@prometheus-io/client";
import { pino } from "pino";
import { expect, test } from "vitest";
import {
  GetShipmentRequestSchema,
  ShipmentService,
} from "../../gen/shipments/v1/shipment_service_pb.js";
import { readCallHeaders } from "../../src/pipeline/call-headers.ts";
import { receivedCall } from "../../src/pipeline/call.ts";
import { createMemoryLimiter } from "../../src/pipeline/memory-limiter.ts";
import { createObserver } from "../../src/pipeline/observe.ts";
import { createPipeline } from "../../src/pipeline/pipeline.ts";
import type { Rpc } from "../../src/pipeline/rpc.ts";
import { createTickBatcher } from "../../src/pipeline/tick-batcher.ts";
import { callOf } from "../support/call-of.ts";

/** A pipeline with one RPC, whose calls last until `work` settles; keys begin with a workspace. */
function startPipeline() {
  const work = Promise.withResolvers<never>();
  const rpc: Rpc = {
    method: ShipmentService.method.getShipment,
    name: "GetShipment",
    limitClass: "read",
    readOnly: true,
    run: () => work.promise,
  };
  const callerOf = (apiKey: string) => callOf(Number(apiKey)).caller;
  const log = pino({ level: "silent" });
  const tickBatcher = createTickBatcher();
  const pipeline = createPipeline({
    rpcs: [rpc],
    streams: [],
    apiKeys: { recall: callerOf, find: async (apiKey) => callerOf(apiKey) },
    closedBecause: () => undefined,
    isTransient: () => false,
    limiter: createMemoryLimiter(() => 0),
    observer: createObserver(log, new Registry(), tickBatcher),
    tickBatcher,
    log,
  });
  const admit = async (workspaceId: number) =>
    pipeline.admit(rpc, receivedCall(readCallHeaders(["X-Api-Key", `${workspaceId}`]), {}));
  return { work, rpc, pipeline, admit };
}

test("a workspace may have half of a process's calls in flight, and leaves the rest to others", async () => {
  const { work, rpc, pipeline, admit } = startPipeline();
  const request = create(GetShipmentRequestSchema, { shipment: "SHP-000000000000" });
  for (let i = 0; i < 500; i++) void pipeline.execute(rpc, request, callOf(1));
  await expect(admit(1)).rejects.toThrow(
    "The workspace has too many calls in flight; try again in a moment.",
  );
  expect(await admit(2)).toMatchObject({ caller: { workspaceId: 2 } });
  work.reject(new Error("the work ended"));
  await work.promise.catch(() => undefined);
  expect(await admit(1)).toMatchObject({ caller: { workspaceId: 1 } });
});

test("calls count as in flight until their work ends, although their callers have left", async () => {
  const { work, rpc, pipeline, admit } = startPipeline();
  const request = create(GetShipmentRequestSchema, { shipment: "SHP-000000000000" });
  const leaveSoon = async (_: unknown, i: number) => {
    const call = { ...callOf(i < 500 ? 1 : 2), deadlineMs: performance.now() + 20 };
    await pipeline.execute(rpc, request, call);
  };

  const left = await Promise.allSettled(Array.from({ length: 1_000 }, leaveSoon));
  expect(left.every(({ status }) => status === "rejected")).toBe(true);
  await expect(admit(3)).rejects.toThrow("The service is overloaded; try again in a moment.");
  work.reject(new Error("the work ended"));
  await work.promise.catch(() => undefined);
  expect(await admit(3)).toMatchObject({ caller: { workspaceId: 3 } });
});
