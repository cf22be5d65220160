import { create } from "@bufbuild/protobuf";
import {
  GetTestClockResponseSchema,
  type GetTestClockResponse,
} from "../../../gen/shipments/v1/test_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { findTestTime } from "../workspaces/test-clock.ts";
import { testClockMessage, type TestClockDeps } from "./test-clocks.ts";

/** Gives the clock of a test twin. */
export async function getTestClock(
  _request: unknown,
  { caller: { workspaceId } }: Call,
  deps: TestClockDeps,
): Promise<GetTestClockResponse> {
  const data = testClockMessage(deps, workspaceId, await findTestTime(deps.em, workspaceId));
  return create(GetTestClockResponseSchema, { data });
}
