import { create } from "@bufbuild/protobuf";
import {
  ReleaseTestClockResponseSchema,
  type ReleaseTestClockResponse,
} from "../../../gen/shipments/v1/test_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { releaseClock, testClockMessage, type TestClockDeps } from "./test-clocks.ts";

/** Has the clock of a test twin follow the real time again. */
export async function releaseTestClock(
  _request: unknown,
  { caller: { workspaceId } }: Call,
  deps: TestClockDeps,
): Promise<ReleaseTestClockResponse> {
  await releaseClock(deps, workspaceId);
  return create(ReleaseTestClockResponseSchema, {
    data: testClockMessage(deps, workspaceId, undefined),
  });
}
