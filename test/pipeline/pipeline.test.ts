import { create } from "@bufbuild/protobuf";
import { pino } from "pino";
import { expect, test } from "vitest";
import { QuoteShipmentRequestSchema } from "../../gen/shipments/v1/quote_pb.js";
import { createMemoryLimiter } from "../../src/pipeline/memory-limiter.ts";
import { readCallHeaders } from "../../src/pipeline/call-headers.ts";
import { createPipeline } from "../../src/pipeline/pipeline.ts";
import type { Rpc } from "../../src/pipeline/rpc.ts";
import { callOf } from "../support/call-of.ts";

test("calls count as under way until their work ends, though their callers have left", async () => {
  const work = Promise.withResolvers<never>();
  const rpc = { limitClass: "read", readOnly: true, run: () => work.promise } as unknown as Rpc;
  const { caller } = callOf(1);
  const pipeline = createPipeline({
    rpcs: [],
    streams: [],
    callers: { recall: () => caller, find: async () => caller },
    closedBecause: () => undefined,
    isTransient: () => false,
    limiter: createMemoryLimiter(() => 0),
    log: pino({ level: "silent" }),
  });
  const admit = async () => pipeline.admit(rpc, readCallHeaders(["X-Api-Key", "any"]));
  const leaveSoon = async () => {
    const call = { ...callOf(1), deadlineMs: performance.now() + 20 };
    await pipeline.perform(rpc, create(QuoteShipmentRequestSchema), call);
  };

  const left = await Promise.allSettled(Array.from({ length: 1_000 }, leaveSoon));
  expect(left.every(({ status }) => status === "rejected")).toBe(true);
  await expect(admit()).rejects.toThrow("The service is overloaded; try again in a moment.");
  work.reject(new Error("the work ended"));
  await work.promise.catch(() => undefined);
  expect(await admit()).toMatchObject({ caller });
});
