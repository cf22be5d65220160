import {
  WorkspaceService,
  type Workspace,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import { useRole } from "../api/session.ts";
import { DescriptionList } from "../ui/description-list.tsx";
import { RpcButton } from "../ui/dialog.tsx";
import { Section } from "../ui/page.tsx";

/** What whoever waits for a shipment gets to see: links, and whom they may ask. */
export function TrackingSection({ workspace }: { readonly workspace: Workspace }) {
  const { trackingEnabled, trackingShowsCourier, trackingContact, test } = workspace;
  const { notifiesRecipients } = workspace;
  const isAdmin = useRole("admin");
  const actions = isAdmin && (
    <>
      {!test && <ChangeTracking workspace={workspace} />}
      <RpcButton
        method={WorkspaceService.method.rotateTrackingLinks}
        button="Replace all links"
        title="Replace all tracking links"
        submit="Replace them"
        destructive
        done="All tracking links are replaced."
      >
        <p>Links that were sent to recipients end, and shipments get other ones.</p>
      </RpcButton>
    </>
  );
  return (
    <Section id="tracking" title="Tracking" actions={actions}>
      <DescriptionList
        items={[
          ["Links", trackingEnabled ? "On" : "Off"],
          ["Courier", trackingShowsCourier ? "First name and vehicle" : "Not shown"],
          ["Mails to recipients", notifiesRecipients && !test ? "On" : "Off"],
          ["Contact", trackingContact ?? "None"],
        ]}
      />
      <p class="hint note">
        Each shipment has a link to a page for its recipient: where it is, and when it comes.
        {test && " Test mode follows its live workspace."}
      </p>
    </Section>
  );
}

function ChangeTracking({ workspace }: { readonly workspace: Workspace }) {
  return (
    <RpcButton
      method={WorkspaceService.method.updateWorkspace}
      request={(form) => ({
        trackingEnabled: form.has("tracking_enabled"),
        trackingShowsCourier: form.has("tracking_shows_courier"),
        notifiesRecipients: form.has("notifies_recipients"),
      })}
      button="Change"
      label="Change tracking"
      title="Tracking"
      submit="Save"
      done="The tracking is changed."
      fields={{
        trackingEnabled: "Shipments have tracking links",
        trackingShowsCourier: "Recipients see the courier’s first name and vehicle",
        notifiesRecipients: "Recipients are told by mail what happens to their shipments",
        trackingContact: {
          label: "Contact",
          hint: "Whom recipients may ask: a phone number, an email or a web address",
        },
      }}
      values={workspace}
    />
  );
}
