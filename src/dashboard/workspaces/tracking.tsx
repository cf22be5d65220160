import { WorkspaceService, type Workspace } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useCall } from "../api/clients.ts";
import { fieldError } from "../api/problem.ts";
import { useRole } from "../api/session.ts";
import { useRpc } from "../api/use-query.ts";
import { changesOf } from "../ui/changes-of.ts";
import { DescriptionList } from "../ui/description-list.tsx";
import { Dialog, DialogButton, RpcButton } from "../ui/dialog.tsx";
import { More } from "../ui/menu.tsx";
import { Field } from "../ui/fields.tsx";
import { dataUrl, numberText } from "../ui/format.ts";
import { Section, QueryView } from "../ui/page.tsx";
import { toast } from "../ui/toast.tsx";
import "./tracking.css";

/** Settings for the recipient's tracking page: links and contact. */
export function TrackingSection({ workspace }: { readonly workspace: Workspace }) {
  const { trackingEnabled, trackingShowsCourier, trackingContact, test } = workspace;
  const { notifiesRecipients, trackingLogo } = workspace;
  const actions = useRole("admin") && (
    <>
      {!test && <ChangeTracking workspace={workspace} />}
      <More of="Tracking">
        {trackingEnabled && <DialogButton dialog={<Preview />}>Preview</DialogButton>}
        {!test && <DialogButton dialog={<LogoDialog hasLogo={trackingLogo !== undefined} />}>Change logo</DialogButton>}
        <RpcButton
          method={WorkspaceService.method.rotateTrackingLinks}
          button="Replace all links"
          title="Replace all tracking links"
          submit="Replace them"
          destructive
          done="Tracking links replaced."
        >
          <p>Existing links stop working, and shipments get new ones.</p>
        </RpcButton>
      </More>
    </>
  );
  return (
    <Section id="tracking" title="Tracking" actions={actions}>
      <DescriptionList
        items={[
          ["Links", trackingEnabled ? "On" : "Off"],
          ["Courier", trackingShowsCourier ? "First name and vehicle" : "Not shown"],
          ["Emails to recipients", notifiesRecipients && !test ? "On" : "Off"],
          ["Contact", trackingContact ?? "None"],
          ["Late without a window", `${numberText(workspace.lateAfterMinutes)} minutes after the booking`],
          [
            "Logo",
            trackingLogo ? <img class="tracking-logo" alt="Logo" src={dataUrl("image/png", trackingLogo)} /> : "None",
          ],
        ]}
      />
      <p class="hint note">
        Each shipment has a link to a page for its recipient: its location and its arrival time.
        {test && " Test mode follows its live workspace."}
      </p>
    </Section>
  );
}

const LOGO = "tracking_logo";

/** A dialog that uploads a logo, or removes the current one if no file is chosen. */
function LogoDialog({ hasLogo }: { readonly hasLogo: boolean }) {
  const call = useCall();
  return (
    <Dialog
      title="Logo on tracking pages"
      submit="Save"
      run={async (form, options) => {
        const file = form.get(LOGO) as File;
        if (file.size === 0 && file.name !== "") throw fieldError(LOGO, "The file is empty.");
        if (file.size === 0 && !hasLogo) throw fieldError(LOGO, "Choose a file first.");
        const trackingLogo = new Uint8Array(await file.arrayBuffer());
        await call(WorkspaceService.method.updateWorkspace, { trackingLogo }, options);
        toast(file.size === 0 ? "Logo removed." : "Logo saved.");
      }}
    >
      <Field
        name={LOGO}
        label="Logo"
        hint={`A PNG of at most 16 KiB; it is shown up to 192 pixels wide and 64 high.${hasLogo ? " Without a file the logo is removed." : ""}`}
      >
        {(input) => <input {...input} type="file" accept="image/png" />}
      </Field>
    </Dialog>
  );
}

/** A preview of the latest shipment's tracking page, as its recipient sees it. */
function Preview() {
  const query = useRpc(ShipmentService.method.listShipments, { pageSize: 1 });
  return (
    <Dialog title="As recipients see it" submit="Close">
      <QueryView query={query}>
        {({ data: [newest] }) =>
          newest?.trackingUrl === undefined ? (
            <p>{newest ? "The platform has no public address yet." : "Book a shipment first."}</p>
          ) : (
            <iframe
              class="tracking-preview"
              title={`Page of ${newest.reference}`}
              src={new URL(newest.trackingUrl).pathname}
            />
          )
        }
      </QueryView>
    </Dialog>
  );
}

function ChangeTracking({ workspace }: { readonly workspace: Workspace }) {
  return (
    <RpcButton
      method={WorkspaceService.method.updateWorkspace}
      request={(form) =>
        changesOf(WorkspaceService.method.updateWorkspace.input, form, workspace, {
          trackingEnabled: form.has("tracking_enabled"),
          trackingShowsCourier: form.has("tracking_shows_courier"),
          notifiesRecipients: form.has("notifies_recipients"),
        })
      }
      button="Change"
      label="Change tracking"
      title="Tracking"
      submit="Save"
      done="Tracking settings saved."
      fields={{
        trackingEnabled: "Shipments have tracking links",
        trackingShowsCourier: "Recipients see the courier’s first name and vehicle",
        notifiesRecipients: "Recipients get emails about their shipments",
        trackingContact: {
          label: "Contact",
          hint: "Contact for recipients: a phone number, an email or a web address",
        },
        lateAfterMinutes: {
          label: "Late after",
          hint: "Age at which a shipment without windows is late, in minutes after its booking",
        },
      }}
      values={workspace}
    />
  );
}
