import { findTestTime } from "../workspaces/test-clock.ts";
import { deleteTestData } from "./delete-test-data.ts";
import { listSimulations } from "./list-simulations.ts";
import { moveTestClock } from "./move-test-clock.ts";
import { takeTestStep } from "./take-test-step.ts";
import { releaseClock, testClockMessage, type TestModeFunctions } from "./test-clocks.ts";

export const TEST_MODE_FUNCTIONS: TestModeFunctions = {
  deleteTestData,
  listSimulations,
  moveTestClock,
  takeTestStep,

  async getTestClock(_request, { caller: { workspaceId } }, deps) {
    return { data: testClockMessage(deps, workspaceId, await findTestTime(deps.em, workspaceId)) };
  },

  /** Releases the clock. The cached state is updated after the commit. */
  async releaseTestClock(_request, { caller: { workspaceId } }, deps) {
    await releaseClock(deps, workspaceId);
    return { data: testClockMessage(deps, workspaceId, undefined) };
  },
};
