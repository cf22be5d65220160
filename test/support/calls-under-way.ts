import type { Doors } from "./service.ts";

/** How many calls the service counts as begun and not ended. */
export async function callsUnderWay(doors: Doors): Promise<number> {
  const { text } = await doors.request("/metrics");
  return Number(/^shipments_requests_under_way (\d+)$/m.exec(text)?.[1]);
}
