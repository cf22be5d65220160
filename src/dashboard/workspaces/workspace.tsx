import type {
  Limits,
  RateLimit,
  Workspace,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import { WorkspaceService } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { useRpc } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { Id } from "../ui/copy-button.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { numberText } from "../ui/format.ts";
import { Page, Section } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { BookingBlockers } from "./booking-blockers.tsx";

export function WorkspacePage() {
  const query = useRpc(WorkspaceService.method.getWorkspace, {});
  return (
    <Page title="Workspace">
      <QueryView query={query}>
        {({ data }) =>
          data && (
            <div class="stack">
              <BookingBlockers blockers={data.bookingBlockers} />
              <div class="columns">
                <About workspace={data} />
                {data.limits && <LimitsSection limits={data.limits} />}
              </div>
            </div>
          )
        }
      </QueryView>
    </Page>
  );
}

function About({ workspace }: { readonly workspace: Workspace }) {
  const { id, name, paymentProvider, bookingBlockers } = workspace;
  return (
    <Section title="About it">
      <DescriptionList
        items={[
          ["Name", name],
          ["Id", <Id id={id} />],
          [
            "Payments",
            <a href={paths.payments({ workspace: id })}>{paymentProvider ?? "Not connected"}</a>,
          ],
          ["Booking", bookingBlockers.length === 0 ? "Possible" : "Not possible now"],
        ]}
      />
      <p class="hint note">The operators of the platform change the name and the limits.</p>
    </Section>
  );
}

function LimitsSection({ limits }: { readonly limits: Limits }) {
  const { requestBytes, pageSize, batchRoutes, metadataKeys, quote, read, write } = limits;
  return (
    <Section title="Limits">
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
