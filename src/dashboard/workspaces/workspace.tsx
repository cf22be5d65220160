import type {
  Limits,
  RateLimit,
  Workspace,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import { WorkspaceService } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { hasRole, useWorkspace } from "../api/session.ts";
import { loadAccount } from "../api/sign-in.ts";
import { paths } from "../routes/paths.ts";
import { Id } from "../ui/copy-button.tsx";
import { DialogButton } from "../ui/dialog.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { numberText } from "../ui/format.ts";
import { Section } from "../ui/page.tsx";
import { TimeZoneDialog } from "./time-zone-dialog.tsx";

export function WorkspaceSection(props: { readonly workspace: Workspace }) {
  const { id, name, bookingBlockers, timeZone } = props.workspace;
  return (
    <Section id="workspace" title="Workspace" actions={<TimeZoneButton {...props} />}>
      <DescriptionList
        items={[
          ["Name", name],
          ["Id", <Id id={id} />],
          ["Time zone", timeZone.replaceAll("_", " ")],
          [
            "Booking",
            bookingBlockers.length === 0 ? (
              "Possible"
            ) : (
              <a href={paths.attention({ workspace: id })}>Not possible now</a>
            ),
          ],
        ]}
      />
      <p class="hint note">The operators of the platform change the name and the limits.</p>
    </Section>
  );
}

/** For admins, in live mode, which test mode follows. */
function TimeZoneButton(props: { readonly workspace: Workspace }) {
  const { name, timeZone, test } = props.workspace;
  if (test || !hasRole(useWorkspace(), "admin")) return null;
  return (
    <DialogButton
      dialog={
        <TimeZoneDialog
          method={WorkspaceService.method.updateWorkspace}
          // All pages go by that of the account.
          then={loadAccount}
          {...{ name, timeZone }}
        />
      }
    >
      Change time zone
    </DialogButton>
  );
}

export function LimitsSection({ limits }: { readonly limits: Limits }) {
  const { requestBytes, pageSize, batchRoutes, metadataKeys, quote, read, write } = limits;
  return (
    <Section id="limits" title="Limits">
      <DescriptionList
        items={[
          ["Quotes", rateText(quote)],
          ["Reads", rateText(read)],
          ["Changes", rateText(write)],
          ["Request", `${numberText(requestBytes)} bytes`],
          ["Page of a list", `${numberText(pageSize)} results`],
          ["Batch quote", `${numberText(batchRoutes)} routes`],
          ["Notes", `${numberText(metadataKeys)} on a shipment`],
        ]}
      />
    </Section>
  );
}

function rateText(limit: RateLimit | undefined): string | undefined {
  return limit && `${numberText(limit.rate)} a second, ${numberText(limit.burst)} at once`;
}
