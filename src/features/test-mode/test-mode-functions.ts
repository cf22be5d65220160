import { findTestTime } from "../workspaces/test-clock.ts";
import { deleteTestData } from "./delete-test-data.ts";
import { moveTestClock } from "./move-test-clock.ts";
import { takeTestStep } from "./take-test-step.ts";
import { releaseClock, testClockMessage, type TestModeFunctions } from "./test-clocks.ts";

const releaseTestClock: TestModeFunctions["releaseTestClock"] = async (_request, call, deps) => {
  const { workspaceId } = call.caller;
  await releaseClock(deps, workspaceId);
  return { data: testClockMessage(deps, workspaceId, undefined) };
};

/** What a test twin does with its clock, its shipments and its data. */
export const TEST_MODE_FUNCTIONS: TestModeFunctions = {
  async getTestClock(_request, { caller: { workspaceId } }, deps) {
    return { data: testClockMessage(deps, workspaceId, await findTestTime(deps.em, workspaceId)) };
  },

  // Deleting and moving on commit step by step, and a step with a shipment shares the transaction of other changes.
  // What calls remember of a clock must not be ahead of its release.
  deleteTestData,
  moveTestClock,
  releaseTestClock,
  takeTestStep,
};
