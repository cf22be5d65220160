import type { CourierProfile } from "../../../gen/shipments/v1/courier_service_pb.js";
import { CourierService } from "../../../gen/shipments/v1/courier_service_pb.js";
import { useLive } from "../api/live.ts";
import { useRole, useWorkspace } from "../api/session.ts";
import { paths } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { RpcButton } from "../ui/dialog.tsx";
import { numberText } from "../ui/format.ts";
import { Empty, Page } from "../ui/page.tsx";
import { type Column, ListView, useList } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { COURIER_FIELDS, LateCount } from "./courier-fields.tsx";

const COLUMNS: readonly Column<CourierProfile>[] = [
  { header: "Name", selfEvident: true, clips: true, cell: ({ name }) => name },
  { header: "Phone", cell: ({ phone }) => phone },
  { header: "Vehicle", clips: true, spare: true, cell: ({ vehicle }) => vehicle },
  { header: "Left", align: "end", cell: ({ figures }) => numberText(figures?.left ?? 0) },
  { header: "Late", align: "end", cell: ({ figures }) => <LateCount count={figures?.late} /> },
  { header: "Done today", align: "end", cell: ({ figures }) => numberText(figures?.done ?? 0) },
  { header: "Last seen", align: "end", cell: ({ figures }) => <Time at={figures?.lastSeenAt} /> },
];

export function CouriersPage() {
  const mayChange = useRole("member");
  const list = useList(CourierService.method.listCouriers, { figures: true });
  useLive(list.reload);
  return (
    <Page title="Couriers" actions={mayChange && <CreateCourier />}>
      <ListView
        query={list}
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
      />
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
      title="Add courier"
      submit="Add courier"
      fields={COURIER_FIELDS}
      done="Courier added."
      then={({ data }) => navigate(paths.courier({ workspace, courier: data!.id }))}
    />
  );
}
