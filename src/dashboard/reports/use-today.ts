import { timestampDate } from "@bufbuild/protobuf/wkt";
import { TestService } from "../../../gen/shipments/v1/test_service_pb.js";
import { useIsTest, useTimeZone } from "../api/session.ts";
import { localDate } from "../ui/local-time.ts";
import { useRpc } from "../api/use-query.ts";

/** The day that it is in the workspace, such as `2026-12-01`, by the clock of its test mode; undefined as long as that is not known. */
export function useToday(): string | undefined {
  // A replica of a release before time zones reports by day in UTC.
  const timeZone = useTimeZone() ?? "UTC";
  const isTest = useIsTest();
  const clock = useRpc(TestService.method.getTestClock, isTest ? {} : undefined);
  if (isTest && clock.data === undefined && clock.problem === undefined) return undefined;
  const time = clock.data?.data;
  const now = time?.time && time.frozen ? timestampDate(time.time) : new Date();
  return localDate(now, timeZone);
}
