import { PaymentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import {
  PaymentConnectionService,
  type PaymentConnection,
} from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import { useRole, useWorkspace } from "../api/session.ts";
import { useRepeat, useRpc } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { PAYMENT_STATES } from "../ui/shipment-states.ts";
import { Section, QueryView } from "../ui/page.tsx";
import { providerName } from "./missing-words.ts";
import { BackFromStripe, CheckButton, StripeActions, ConnectionBadge, StripeConnection } from "./stripe.tsx";

/** Reload interval of the connection, in milliseconds. Its changes cause no events. */
const REPEAT_MS = 30_000;

/** Shows the payment connection and its requirements, with links to pending payments and refunds. */
export function PaymentsSection() {
  const query = useRpc(PaymentConnectionService.method.getPaymentConnection, {});
  useRepeat(query.reload, REPEAT_MS);
  const mayCheck = useRole("admin") && query.data?.data?.provider === "stripe";
  return (
    <Section id="payments" title="Payments" actions={mayCheck && <CheckButton />}>
      <QueryView query={query}>{({ data }) => data && <Provider connection={data} />}</QueryView>
      <Waiting />
    </Section>
  );
}

function Provider(props: { readonly connection: PaymentConnection }) {
  const { provider, state } = props.connection;
  const { isTest } = useWorkspace();
  const mayConnect = useRole("admin");
  const isStripe = provider === "stripe";
  return (
    <div class="form">
      {mayConnect && isStripe && <BackFromStripe {...props} />}
      <p>
        <strong>
          {provider === undefined ? "No payment provider" : providerName(provider)}
          {isStripe && isTest && ", test mode"}
        </strong>{" "}
        <ConnectionBadge state={state} />
      </p>
      {isStripe ? <StripeConnection {...props} /> : <WithoutStripe provider={provider} />}
      {mayConnect ? (
        <StripeActions {...props} />
      ) : (
        <p class="hint">Admins of the workspace connect and disconnect Stripe.</p>
      )}
    </div>
  );
}

function WithoutStripe({ provider }: { readonly provider: string | undefined }) {
  if (provider === "test") {
    return (
      <>
        <p>No money moves in test mode. Record payments on the shipment’s page or through the API.</p>
        <p>In Stripe’s test mode, shipments are paid through a link as in live mode, but with Stripe’s test cards.</p>
      </>
    );
  }
  return (
    <>
      {provider === undefined ? (
        <p>Routes can already be quoted. Booking requires a payment provider.</p>
      ) : (
        <p>
          Customers pay outside of this service. Record each payment on the shipment’s page or through the API. The
          shipment then waits for its pickup. If a paid shipment is cancelled, refund the customer and record the
          refund.
        </p>
      )}
      <p>
        With Stripe, customers pay by card through a link. Payments are recorded and cancelled shipments refunded
        automatically.
      </p>
      <p class="hint">The operators of the platform connect and disconnect manual payments.</p>
    </>
  );
}

function Waiting() {
  return (
    <p class="note">
      Shipments: <ListLink of={PaymentStatus.AWAITING_PAYMENT} />, <ListLink of={PaymentStatus.REFUND_PENDING} />
    </p>
  );
}

function ListLink({ of }: { readonly of: PaymentStatus }) {
  const href = paths.shipments({}, { payment_status: String(of) });
  return <a href={href}>{PAYMENT_STATES[of][0]}</a>;
}
