import { createContext } from "preact";
import type { TestClock } from "../../../gen/shipments/v1/test_service_pb.js";
import { clientFor } from "../api/clients.ts";
import type { EnteredWorkspace } from "../api/session.ts";
import { type Query, useFrameQuery } from "../api/use-query.ts";

/** Query for the test clock, loaded by the layout. It has no data in live mode. */
export const TestClockQuery = createContext<Query<TestClock | undefined> | undefined>(undefined);

/** Loads the test clock. The service's descriptor is loaded lazily, so that no page waits for the bar's time. */
export function useTestClock(entered: EnteredWorkspace | undefined, pathname: string): Query<TestClock | undefined> {
  const twin = entered?.isTest ? String(entered.id) : undefined;
  const query = useFrameQuery(
    async (signal) => {
      if (twin === undefined) return undefined;
      const { TestService } = await import("../../../gen/shipments/v1/test_service_pb.js");
      return (await clientFor(TestService, twin).getTestClock({}, { signal })).data;
    },
    [twin, pathname],
  );
  return twin === undefined ? { ...query, data: undefined } : query;
}
