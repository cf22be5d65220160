import type { EnteredWorkspace } from "../api/session.ts";
import type { TestClock } from "../../../gen/shipments/v1/test_service_pb.js";
import { paths } from "../routes/paths.ts";
import { Time } from "../ui/values.tsx";
import { otherModeOf } from "./navigation.tsx";

/** The test mode bar, with a link to live mode and, if the clock is stopped, its time. */
export function TestBar(props: {
  readonly entered: EnteredWorkspace;
  readonly pathname: string;
  readonly clock: TestClock | undefined;
}) {
  const { entered, pathname, clock } = props;
  const live = otherModeOf(entered, pathname);
  return (
    <div class="test-bar">
      <a class="mode" href={paths.testMode({ workspace: entered.id })}>
        <strong>Test mode</strong>
        {clock?.frozen && <Time at={clock.time} exact />}
      </a>
      {live !== undefined && <a href={live}>To live mode</a>}
    </div>
  );
}
