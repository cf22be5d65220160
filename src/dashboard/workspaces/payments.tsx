import { PaymentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { WorkspaceService } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { useRpc } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { Badge } from "../ui/badge.tsx";
import { Page, Section } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { BookingBlockers } from "./booking-blockers.tsx";

export function PaymentsPage({ workspace }: { readonly workspace: string }) {
  const query = useRpc(WorkspaceService.method.getWorkspace, {});
  const provider = query.data?.data?.paymentProvider;
  return (
    <Page title="Payments">
      <QueryView query={query}>
        {({ data }) =>
          data && (
            <div class="stack">
              <BookingBlockers blockers={data.bookingBlockers} />
              <div class="columns">
                <Provider provider={provider} />
                <Waiting workspace={workspace} />
              </div>
            </div>
          )
        }
      </QueryView>
    </Page>
  );
}

function Provider({ provider }: { readonly provider: string | undefined }) {
  const isConnected = provider !== undefined;
  return (
    <Section title="Provider">
      <div class="form">
        <p>
          <strong>{provider ?? "None"}</strong>{" "}
          <Badge tone={isConnected ? "good" : "bad"}>
            {isConnected ? "Connected" : "Not connected"}
          </Badge>
        </p>
        {provider === "manual" && (
          <p>
            Money is taken outside of this service. When a shipment has been paid, say so on its
            page or by <code>RecordPayment</code>: then it waits for its pickup. When one that was
            paid is cancelled, give the money back and say so there too, or by{" "}
            <code>RecordRefund</code>.
          </p>
        )}
        {!isConnected && <p>Without a provider, routes are quoted, and nothing can be booked.</p>}
        <p class="hint">The operators of the platform connect and disconnect providers.</p>
      </div>
    </Section>
  );
}

function Waiting({ workspace }: { readonly workspace: string }) {
  const link = (status: PaymentStatus) =>
    paths.shipments({ workspace }, { payment_status: String(status) });
  return (
    <Section title="What waits for money">
      <ul class="links">
        <li>
          <a href={link(PaymentStatus.AWAITING_PAYMENT)}>Shipments that wait for their payment</a>
        </li>
        <li>
          <a href={link(PaymentStatus.REFUND_PENDING)}>Shipments that wait for their refund</a>
        </li>
      </ul>
    </Section>
  );
}
