import { WorkspaceService, type Workspace } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { useRole } from "../api/session.ts";
import { DescriptionList } from "../ui/description-list.tsx";
import { RpcButton } from "../ui/dialog.tsx";
import { Section } from "../ui/page.tsx";

/** Settings for the couriers' page. */
export function CouriersSection({ workspace }: { readonly workspace: Workspace }) {
  const { couriersReorderStops, couriersShareLocation, test } = workspace;
  const actions = useRole("admin") && !test && (
    <RpcButton
      method={WorkspaceService.method.updateWorkspace}
      request={(form) => ({
        couriersReorderStops: form.has("couriers_reorder_stops"),
        couriersShareLocation: form.has("couriers_share_location"),
      })}
      button="Change"
      label="Change couriers"
      title="Couriers"
      submit="Save"
      done="Courier settings saved."
      fields={{
        couriersReorderStops: "Couriers can change the order of their stops",
        couriersShareLocation: "Couriers can share their location",
      }}
      values={workspace}
    />
  );
  return (
    <Section id="couriers" title="Couriers" actions={actions}>
      <DescriptionList
        items={[
          ["Order of stops", couriersReorderStops ? "Couriers can change it" : "Only dispatchers change it"],
          ["Location", couriersShareLocation ? "Shared by couriers who agree" : "Not shared"],
        ]}
      />
    </Section>
  );
}
