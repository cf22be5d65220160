import { useMemo } from "preact/hooks";
import { type CourierProfile, CourierService } from "../../../gen/shipments/v1/courier_service_pb.js";
import { useLive } from "../api/live.ts";
import { useRole, useWorkspace } from "../api/session.ts";
import { useRepeat } from "../api/use-query.ts";
import { MapPlaceholder } from "../map/map-placeholder.tsx";
import { paths } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { RpcButton } from "../ui/dialog.tsx";
import { numberText } from "../ui/format.ts";
import { lazily } from "../ui/lazily.tsx";
import { Empty, Page } from "../ui/page.tsx";
import { type Column, ListView, useList } from "../ui/table.tsx";
import { Phone, Time } from "../ui/values.tsx";
import { COURIER_FIELDS, LateCount } from "./courier-fields.tsx";
import "./couriers.css";

const COLUMNS: readonly Column<CourierProfile>[] = [
  { header: "Name", selfEvident: true, clips: true, cell: ({ name }) => name },
  { header: "Phone", cell: ({ phone }) => <Phone number={phone} /> },
  { header: "Vehicle", clips: true, spare: true, cell: ({ vehicle }) => vehicle },
  { header: "Left", align: "end", cell: ({ figures }) => numberText(figures?.left ?? 0) },
  { header: "Late", align: "end", cell: ({ figures }) => <LateCount count={figures?.late} /> },
  { header: "Done today", align: "end", cell: ({ figures }) => numberText(figures?.done ?? 0) },
  { header: "Last seen", align: "end", cell: ({ figures }) => <Time at={figures?.lastSeenAt} /> },
];

/** Sorts couriers: most late shipments first, then most shipments left, then those with recent contact. */
function byUrgency({ figures: one }: CourierProfile, { figures: other }: CourierProfile): number {
  const { late = 0, left = 0, lastSeenAt } = one ?? {};
  return (
    (other?.late ?? 0) - late ||
    (other?.left ?? 0) - left ||
    Number(other?.lastSeenAt !== undefined) - Number(lastSeenAt !== undefined)
  );
}

const LazyMap = lazily(() => import("./couriers-map.tsx"), "CouriersMap", <MapPlaceholder />);

/** Reload interval of locations, which cause no events, in milliseconds. */
const POLL_MS = 10_000;

export function CouriersPage() {
  const mayChange = useRole("member");
  const list = useList(CourierService.method.listCouriers, { figures: true }, 100);
  useLive(list.reload);
  const data = useMemo(() => list.data && { ...list.data, data: list.data.data.toSorted(byUrgency) }, [list.data]);
  const located = useMemo(() => data?.data.filter(({ figures }) => figures?.place) ?? [], [data]);
  useRepeat(list.reload, POLL_MS);
  return (
    <Page title="Couriers" actions={mayChange && <CreateCourier />}>
      <div class="list-first">
        <ListView
          query={{ ...list, data }}
          label="Couriers"
          isList
          columns={COLUMNS}
          href={({ id }) => paths.courier({ courier: id })}
          empty={
            <Empty title="No couriers yet">
              {mayChange
                ? "Add the people who carry your shipments, then assign shipments to them in the shipments list."
                : "Couriers that members of the workspace add appear here."}
            </Empty>
          }
          beside={data && located.length === 0 ? undefined : () => <LazyMap couriers={located} />}
        />
      </div>
    </Page>
  );
}

function CreateCourier() {
  const { id: workspace } = useWorkspace();
  return (
    <RpcButton
      primary
      button="Add courier"
      method={CourierService.method.createCourier}
      fields={COURIER_FIELDS}
      done="Courier added."
      then={({ data }, isShown) => {
        if (isShown) navigate(paths.courier({ workspace, courier: data!.id }));
      }}
    />
  );
}
