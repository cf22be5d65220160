import { useEffect, useRef } from "preact/hooks";
import { PaymentConnectionState } from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import {
  DisputeStatus,
  PaymentStatus,
  ShipmentStatus,
  type PaymentDetails,
  type Shipment,
} from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import type { Labels } from "../api/problem.ts";
import { useRole } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { paths, settingsHref } from "../routes/paths.ts";
import { ActionButton, RpcActionButton } from "../ui/button.tsx";
import { Code, Money, Time } from "../ui/values.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { dateOf, moneyText } from "../ui/format.ts";
import { Section, ProblemNote } from "../ui/page.tsx";
import { blocksRefund, isPaidOnline, type PaymentProps } from "./shipment-badge.tsx";
import "./shipments.css";

/** Shows a shipment's payment state at Stripe, with actions. Empty if the shipment is paid manually. */
export function ShipmentPayment(props: PaymentProps) {
  const { shipment, connection } = props;
  const { paymentDetails: details, status, paymentStatus, total, currency } = shipment;
  const isPending = status === ShipmentStatus.PENDING;
  if (!isPaidOnline(props) || (details === undefined && !isPending)) return null;
  const isPaid = paymentStatus !== PaymentStatus.AWAITING_PAYMENT && paymentStatus !== PaymentStatus.VOIDED;
  const partOf = (amount = 0) =>
    amount > 0 ? `${moneyText(amount, currency)} of ${moneyText(total, currency)}` : undefined;
  return (
    <Section title="Payment">
      <div class="form">
        {details && <Dispute details={details} />}
        {details?.error !== undefined && (
          <p class="problem attention">
            <strong>Payment attempt failed.</strong> {details.error}
          </p>
        )}
        {details?.processing && details.error === undefined && (
          <p>The payment is processing, which can take days. The price and the route cannot change until then.</p>
        )}
        {details?.uncounted && <Uncounted {...props} />}
        {isPending && !details?.processing && <PayLink {...props} />}
        {paymentStatus === PaymentStatus.REFUND_PENDING && details && <Refund {...props} details={details} />}
        {paymentStatus === PaymentStatus.VOIDED && (
          <p>The shipment was cancelled before payment. Late payments are refunded.</p>
        )}
        <DescriptionList
          items={[
            ["Paid", isPaid ? <Money amount={total} currency={currency} /> : undefined],
            ["Refunded", partOf(details?.refundedAmount)],
            ["Reversed by the bank", partOf(details?.disputedAmount)],
            ["At Stripe", details && <AtStripe shipment={shipment} connection={connection} />],
          ]}
        />
      </div>
    </Section>
  );
}

function AtStripe({ shipment: { reference }, connection }: PaymentProps) {
  const mode = connection?.live === false ? "test/" : "";
  const query = new URLSearchParams({ query: reference }).toString();
  return (
    <a href={`https://dashboard.stripe.com/${mode}search?${query}`} target="_blank" rel="noreferrer">
      Find the payment
    </a>
  );
}

function Dispute({ details }: { readonly details: PaymentDetails }) {
  switch (details.dispute) {
    case DisputeStatus.OPEN:
      return (
        <p class="problem">
          <strong>The payment is disputed.</strong> The customer contacted their bank. Respond in Stripe.{" "}
          {details.disputeRefundable
            ? "This is an inquiry: cancel the shipment to refund it in full, which closes the inquiry."
            : "It cannot be refunded until the bank has decided."}
        </p>
      );
    case DisputeStatus.WON:
      return <p>The dispute was won. The payment stays.</p>;
    case DisputeStatus.LOST:
      return <p>The dispute was lost. The bank reversed the disputed amount.</p>;
    default:
      return null;
  }
}

function Uncounted({ shipment: { reference } }: PaymentProps) {
  return (
    <>
      <p class="problem">
        <strong>Stripe may hold money that is not assigned to this shipment.</strong> Check Stripe. Refund the payment
        there, or accept it here.
      </p>
      {useRole("member") && (
        <div class="actions">
          <RpcActionButton
            method={ShipmentService.method.acceptUncountedPayment}
            request={{ shipment: reference }}
            done="Payment accepted."
          >
            Accept payment
          </RpcActionButton>
        </div>
      )}
    </>
  );
}

/** Labels of this site's URLs in Stripe's refusals. */
const ADDRESS_LABELS: Labels = new Map(["success_url", "cancel_url"].map((name) => [name, "This site’s URL"]));

function PayLink({ shipment, connection }: PaymentProps) {
  const { reference, paymentDetails: details } = shipment;
  const shipments = useClient(ShipmentService);
  const mayCreate = useRole("member");
  const isRequested = useRef(false);
  const create = useAction(async () => {
    isRequested.current = true;
    await shipments.createCheckout({
      shipment: reference,
      successUrl: new URL(paths.paid(), location.origin).href,
      cancelUrl: new URL(paths.notPaid(), location.origin).href,
    });
  });
  const url = isOpen(details) ? details?.checkoutUrl : undefined;
  if (url !== undefined) {
    return <OpenPayLink {...{ shipment, url }} takesFocus={isRequested.current} />;
  }
  if (connection?.state !== PaymentConnectionState.READY) {
    return (
      <p>
        A pay link cannot be created: <a href={settingsHref("payments")}>complete the payment settings</a>.
      </p>
    );
  }
  return (
    <>
      <p>No pay link yet. A link is valid for almost a day.</p>
      {create.problem && <ProblemNote problem={create.problem} labels={ADDRESS_LABELS} />}
      {mayCreate && (
        <div class="actions">
          <ActionButton primary action={{ ...create, problem: undefined }}>
            Create pay link
          </ActionButton>
        </div>
      )}
    </>
  );
}

function OpenPayLink(props: {
  readonly shipment: Shipment;
  readonly url: string;
  /** Whether the link takes the focus from the button that created it. */
  readonly takesFocus: boolean;
}) {
  const { shipment, url, takesFocus } = props;
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (takesFocus) link.current!.focus();
  }, []);
  return (
    <>
      <p>
        {shipment.customer?.name ?? "The customer"} can pay with this link until{" "}
        <Time at={shipment.paymentDetails?.checkoutExpiresAt} exact />.
      </p>
      <div class="pay-link">
        <Code text={url} what="pay link" />
      </div>
      <div class="actions">
        <a class="button" ref={link} href={url} target="_blank" rel="noreferrer">
          Open pay link
        </a>
      </div>
    </>
  );
}

function isOpen(details: PaymentDetails | undefined): boolean {
  const ends = details?.checkoutExpiresAt;
  return ends !== undefined && dateOf(ends).getTime() > Date.now();
}

function Refund({ shipment, details }: PaymentProps & { readonly details: PaymentDetails }) {
  const isBlocked = blocksRefund(details);
  const mayRetry = useRole("member") && !isBlocked;
  if (details.refundError === undefined) {
    if (isBlocked) return null;
    const amount = shipment.total - details.refundedAmount - details.disputedAmount;
    return (
      <p>
        <Money amount={Number(amount.toFixed(4))} currency={shipment.currency} /> is being refunded to{" "}
        {shipment.customer?.name ?? "the customer"}, which can take days.
      </p>
    );
  }
  return (
    <>
      <p class="problem">
        <strong>The refund was not completed.</strong> {details.refundError.replaceAll("_", " ")}
      </p>
      {mayRetry && (
        <div class="actions">
          <RpcActionButton
            primary
            method={ShipmentService.method.retryRefund}
            request={{ shipment: shipment.reference }}
            done="The refund is being retried."
          >
            Retry refund
          </RpcActionButton>
        </div>
      )}
    </>
  );
}
