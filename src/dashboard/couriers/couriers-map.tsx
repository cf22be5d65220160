import { useMemo } from "preact/hooks";
import type { CourierProfile } from "../../../gen/shipments/v1/courier_service_pb.js";
import { ClusterMap } from "../map/cluster-marks.tsx";
import { paths } from "../routes/paths.ts";
import { numberText } from "../ui/format.ts";
import { Time } from "../ui/values.tsx";

/** A map of the newest locations of couriers. Each courier must have a location. */
export function CouriersMap({ couriers }: { readonly couriers: readonly CourierProfile[] }) {
  const marks = useMemo(
    () => couriers.map((of) => ({ lat: of.figures!.place!.lat, lng: of.figures!.place!.lng, key: of.id, of })),
    [couriers],
  );
  // The map moves only when couriers start or stop sharing their location.
  const inView = useMemo(() => marks, [marks.map(({ key }) => key).join()]);
  return (
    <ClusterMap
      label="Locations of couriers"
      tone="courier"
      marks={marks}
      inView={inView}
      nameOf={({ count, members }) => (count === 1 ? members()[0]!.name : `${numberText(count)} couriers`)}
      textOf={({ name }) => initialsOf(name)}
      colorOf={(members) => (members.some(({ figures }) => figures!.late > 0) ? "attention" : "active")}
      card={(members) => (
        <ul>
          {members.map(({ id, name, figures }) => (
            <li key={id}>
              <p>
                <a href={paths.courier({ courier: id })}>{name}</a>
              </p>
              <p class="minor">
                {numberText(figures!.left)} left, seen <Time at={figures!.place!.measuredAt} />
              </p>
            </li>
          ))}
        </ul>
      )}
    />
  );
}

/** Returns the first letters of the first and the last word of a name. */
function initialsOf(name: string): string {
  const letters = name.match(/(?<!\S)\S/gu) ?? [];
  return [letters[0], letters.slice(1).at(-1)].join("").toUpperCase();
}
