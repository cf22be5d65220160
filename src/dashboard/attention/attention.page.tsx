import { useContext } from "preact/hooks";
import {
  AttentionKind,
  BookingBlocker,
  type AttentionSubject,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import { PaymentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useLive } from "../api/live.ts";
import { useRole } from "../api/session.ts";
import { paths, settingsHref } from "../routes/paths.ts";
import { RpcActionButton } from "../ui/button.tsx";
import type { Link } from "../ui/page.tsx";
import { Time } from "../ui/values.tsx";
import { BLOCKED } from "../workspaces/booking-blockers.tsx";
import { type AttentionItem, AttentionList } from "./attention-list.tsx";
import { AttentionQuery } from "./attention-query.ts";

export function AttentionPage() {
  useLive(useContext(AttentionQuery)!.reload);
  return (
    <AttentionList
      otherwise="Refunds that are due, webhooks that fail, keys that are about to end and whatever stops bookings appear here."
      kindsOf={({ ofWorkspace }) => ofWorkspace}
      ofSubject={ITEMS}
      ofKind={({ kind, subjects }) => (subjects.length === 0 ? blocked(kind) : undefined)}
      allOf={allOf}
    />
  );
}

function allOf(kind: AttentionKind): Link | undefined {
  switch (kind) {
    case AttentionKind.REFUND_FAILED:
    case AttentionKind.REFUND_DUE:
      return {
        label: "All shipments with a refund due",
        href: paths.shipments({}, { payment_status: String(PaymentStatus.REFUND_PENDING) }),
      };
    case AttentionKind.PAYMENT_UNCOUNTED:
    case AttentionKind.DISPUTE_OPEN:
      return { label: "All shipments", href: paths.shipments() };
    case AttentionKind.WEBHOOK_DISABLED:
    case AttentionKind.WEBHOOK_FAILING:
      return { label: "All webhooks", href: paths.webhooks() };
    case AttentionKind.API_KEY_ENDING:
      return { label: "All keys", href: paths.apiKeys() };
    default:
      return undefined;
  }
}

function blocked(kind: AttentionKind): AttentionItem {
  const isTariff = kind === AttentionKind.TARIFF;
  const [what, next] = BLOCKED[isTariff ? BookingBlocker.TARIFF : BookingBlocker.PAYMENT_PROVIDER];
  return {
    isBad: true,
    says: what,
    besides: `Nothing can be booked meanwhile. ${next}`,
    link: isTariff ? undefined : { label: "Set up payments", href: settingsHref("payments") },
  };
}

const ITEMS: Readonly<
  Partial<Record<AttentionKind, (subject: AttentionSubject) => AttentionItem>>
> = {
  [AttentionKind.REFUND_FAILED]: ({ id, reason }) => ({
    isBad: true,
    says: (
      <>
        The refund of <ShipmentLink id={id} /> failed, so the customer does not have their money.
      </>
    ),
    besides: reason?.replaceAll("_", " "),
    action: <RetryRefund shipment={id} />,
  }),
  [AttentionKind.PAYMENT_UNCOUNTED]: ({ id, reason }) => ({
    isBad: true,
    says: (
      <>
        Money was taken for <ShipmentLink id={id} /> that does not count, or may have been.
      </>
    ),
    besides: `${reason ?? ""} Refund it at Stripe, or accept it on the page of the shipment.`,
  }),
  [AttentionKind.DISPUTE_OPEN]: ({ id }) => ({
    isBad: true,
    says: (
      <>
        The payment of <ShipmentLink id={id} /> is disputed.
      </>
    ),
    besides:
      "The customer has asked their bank for the money back. Answer at Stripe before the bank decides.",
  }),
  [AttentionKind.WEBHOOK_DISABLED]: (subject) => ({
    isBad: true,
    says: `Nothing is sent to ${subject.name} any more, because it failed for too long.`,
    besides: "Fix the receiving end, then enable it. What it missed can be sent again.",
    link: webhookLink(subject),
  }),
  [AttentionKind.WEBHOOK_FAILING]: (subject) => ({
    isBad: true,
    says: (
      <>
        No event has arrived at {subject.name} since <Time at={subject.at} exact />.
      </>
    ),
    besides:
      "Each event is tried for a while. After five days of failures the webhook is disabled.",
    link: webhookLink(subject),
  }),
  [AttentionKind.REFUND_DUE]: ({ id, at }) => ({
    says: (
      <>
        The refund of <ShipmentLink id={id} /> has been due since <Time at={at} exact />.
      </>
    ),
    besides:
      "The shipment was cancelled after it was paid. Give the customer the money back, then record that.",
    link: { label: "See the shipment", href: paths.shipment({ reference: id }), of: id },
  }),
  [AttentionKind.API_KEY_ENDING]: ({ name, at }) => ({
    says: (
      <>
        The key {name === undefined ? "without a name" : `“${name}”`} ends <Time at={at} />.
      </>
    ),
    besides: "Whatever still calls with it needs another key by then.",
    link: { label: "See the keys", href: paths.apiKeys() },
  }),
};

function ShipmentLink({ id }: { readonly id: string }) {
  return (
    <a href={paths.shipment({ reference: id })}>
      <code>{id}</code>
    </a>
  );
}

function webhookLink({ id, name = "" }: AttentionSubject) {
  return { label: "See the webhook", href: paths.webhook({ webhook: id }), of: name };
}

function RetryRefund({ shipment }: { readonly shipment: string }) {
  if (!useRole("member")) return null;
  return (
    <RpcActionButton
      method={ShipmentService.method.retryRefund}
      request={{ shipment }}
      done="The refund is tried again."
      label={`Try again: the refund of ${shipment}`}
    >
      Try again
    </RpcActionButton>
  );
}
