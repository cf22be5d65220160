import type { TimeWindow } from "../../../../gen/shipments/v1/window_pb.js";
import { toInstantMs } from "../../../domain/instant.ts";
import type { Span } from "../../../domain/schedule/calendar.ts";
import type { Ends } from "../../../domain/route-ends.ts";
import type { BookedWindow } from "../../../domain/schedule/decide-windows.ts";

export function windowRecord({ startMs, endMs, timeZone }: BookedWindow) {
  return { start: startMs, end: endMs, timeZone };
}

/** Returns the windows of a request, with times in whole milliseconds since the epoch. */
export function windowsOf(request: {
  readonly pickupWindow?: TimeWindow | undefined;
  readonly dropoffWindow?: TimeWindow | undefined;
}): Ends<Span> {
  return { pickup: spanOf(request.pickupWindow), dropoff: spanOf(request.dropoffWindow) };
}

function spanOf(window: TimeWindow | undefined): Span | undefined {
  const [startMs, endMs] = [window?.start, window?.end].map((it) => toInstantMs(it, Math.floor));
  return window && { startMs: startMs!, endMs: endMs! };
}
