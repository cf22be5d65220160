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

test("calls count as in flight until their work ends, although their callers have left", async () => {
  const work = Promise.withResolvers<never>();
  const rpc: Rpc = {
    method: ShipmentService.method.getShipment,
    name: "GetShipment",
    limitClass: "read",
    readOnly: true,
    run: () => work.promise,
  };
  const { caller } = callOf(1);
  const log = pino({ level: "silent" });
  const tickBatcher = createTickBatcher();
  const pipeline = createPipeline({
    rpcs: [rpc],
    streams: [],
    apiKeys: { recall: () => caller, find: async () => caller },
    closedBecause: () => undefined,
    isTransient: () => false,
    limiter: createMemoryLimiter(() => 0),
    observer: createObserver(log, new Registry(), tickBatcher),
    tickBatcher,
    log,
  });
  const admit = async () =>
    pipeline.admit(rpc, receivedCall(readCallHeaders(["X-Api-Key", "any"])));
  const request = create(GetShipmentRequestSchema, { shipment: "SHP-000000000000" });
  const leaveSoon = async () => {
    const call = { ...callOf(1), deadlineMs: performance.now() + 20 };
    await pipeline.execute(rpc, request, call);
  };

  const left = await Promise.allSettled(Array.from({ length: 1_000 }, leaveSoon));
  expect(left.every(({ status }) => status === "rejected")).toBe(true);
  await expect(admit()).rejects.toThrow("The service is overloaded; try again in a moment.");
  work.reject(new Error("the work ended"));
  await work.promise.catch(() => undefined);
  expect(await admit()).toMatchObject({ caller });
});
