import { hasEnded, type ShipmentStatus } from "../../domain/shipment/shipment-state.ts";
import type { SubjectWatch } from "../events/subject-watch.ts";
import { findLinked, type TrackingDeps } from "./find-tracked.ts";

/**
 * Subscribes to changes of a shipment by its tracking link. Returns `undefined` for an invalid link.
 *
 * @param changed called after each change. `isOver` is true for the last change.
 * @returns an object whose `stop` unsubscribes. Without `stop` if the status is already final
 */
export async function followLinked(
  link: string,
  changed: (isOver: boolean) => void,
  { watch, ...deps }: TrackingDeps & { readonly watch: SubjectWatch },
): Promise<{ readonly stop?: () => void } | undefined> {
  const found = await findLinked(link, deps);
  if (found === undefined) return undefined;
  const { tracked, workspace } = found;
  if (hasEnded(tracked.status)) return {};
  const stop = await watch.listen(workspace.id, tracked.reference, (type) =>
    changed(hasEnded(type.replace("shipment.", "") as ShipmentStatus)),
  );
  return { stop };
}
