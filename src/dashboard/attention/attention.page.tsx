import type { JSX } from "preact";
import { useContext } from "preact/hooks";
import {
  AttentionKind,
  BookingBlocker,
  type Attention,
  type AttentionSubject,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import { PaymentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { hasRole, useWorkspace } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { paths, settingsHref } from "../routes/paths.ts";
import { ActionButton } from "../ui/button.tsx";
import type { Link } from "../ui/page.tsx";
import { toast } from "../ui/toast.tsx";
import { Time } from "../ui/values.tsx";
import { BLOCKED } from "../workspaces/booking-blockers.tsx";
import { AttentionItem, AttentionList, MoreItems } from "./attention-list.tsx";
import { AttentionQuery } from "./attention-query.ts";

export function AttentionPage({ workspace }: Shown) {
  useLive(useContext(AttentionQuery)!.reload);
  return (
    <AttentionList
      otherwise="Refunds that are due, webhooks that fail, keys that are about to end and whatever stops bookings appear here."
      itemsOf={({ ofWorkspace }) =>
        ofWorkspace.map((item) => <OfKind key={item.kind} {...{ workspace, item }} />)
      }
    />
  );
}

interface Shown {
  readonly workspace: string;
}

function OfKind({ workspace, item }: Shown & { readonly item: Attention }) {
  const { kind, count, subjects } = item;
  const more = count - subjects.length;
  const all = allOf(kind, workspace);
  const OfSubject = SHOWN[kind];
  if (subjects.length === 0) return <Blocked {...{ kind, workspace }} />;
  return (
    <>
      {OfSubject &&
        subjects.map((subject) => <OfSubject key={subject.id} {...{ workspace, subject }} />)}
      {more > 0 && all && <MoreItems href={all.href}>{all.label}</MoreItems>}
    </>
  );
}

/** Where all of a kind are listed, of which there can be more than are named. */
function allOf(kind: AttentionKind, workspace: string): Link | undefined {
  switch (kind) {
    case AttentionKind.REFUND_FAILED:
    case AttentionKind.REFUND_DUE:
      return {
        label: "All shipments that wait for their refund",
        href: paths.shipments(
          { workspace },
          { payment_status: String(PaymentStatus.REFUND_PENDING) },
        ),
      };
    case AttentionKind.PAYMENT_UNCOUNTED:
    case AttentionKind.DISPUTE_OPEN:
      return { label: "All shipments", href: paths.shipments({ workspace }) };
    case AttentionKind.WEBHOOK_DISABLED:
    case AttentionKind.WEBHOOK_FAILING:
      return { label: "All webhooks", href: paths.webhooks({ workspace }) };
    case AttentionKind.API_KEY_ENDING:
      return { label: "All keys", href: paths.apiKeys({ workspace }) };
    default:
      return undefined;
  }
}

function Blocked({
  kind,
  workspace,
}: {
  readonly kind: AttentionKind;
  readonly workspace: string;
}) {
  const isTariff = kind === AttentionKind.TARIFF;
  const [what, next] = BLOCKED[isTariff ? BookingBlocker.TARIFF : BookingBlocker.PAYMENT_PROVIDER];
  return (
    <AttentionItem bad says={what} besides={`Nothing can be booked meanwhile. ${next}`}>
      {!isTariff && (
        <a class="button" href={settingsHref(workspace, "payments")}>
          Set up payments
        </a>
      )}
    </AttentionItem>
  );
}

interface Subject extends Shown {
  readonly subject: AttentionSubject;
}

/** How one of a kind is shown; kinds that later services know are not. */
const SHOWN: Readonly<Partial<Record<AttentionKind, (props: Subject) => JSX.Element>>> = {
  [AttentionKind.REFUND_FAILED]: ({ workspace, subject: { id, reason } }) => (
    <AttentionItem
      bad
      says={
        <>
          The refund of <ShipmentLink {...{ workspace, id }} /> failed, so the customer does not
          have their money.
        </>
      }
      besides={reason?.replaceAll("_", " ")}
    >
      <RetryRefund shipment={id} />
    </AttentionItem>
  ),
  [AttentionKind.PAYMENT_UNCOUNTED]: ({ workspace, subject: { id, reason } }) => (
    <AttentionItem
      bad
      says={
        <>
          Money was taken for <ShipmentLink {...{ workspace, id }} /> that does not count, or may
          have been.
        </>
      }
      besides={`${reason ?? ""} Refund it at Stripe, or accept it on the page of the shipment.`}
    />
  ),
  [AttentionKind.DISPUTE_OPEN]: ({ workspace, subject: { id } }) => (
    <AttentionItem
      bad
      says={
        <>
          The payment of <ShipmentLink {...{ workspace, id }} /> is disputed.
        </>
      }
      besides="The customer has asked their bank for the money back. Answer at Stripe before the bank decides."
    />
  ),
  [AttentionKind.WEBHOOK_DISABLED]: ({ workspace, subject }) => (
    <AttentionItem
      bad
      says={`Nothing is sent to ${subject.name} any more, because it failed for too long.`}
      besides="Fix the receiving end, then enable it. What it missed can be sent again."
    >
      <WebhookLink {...{ workspace, subject }} />
    </AttentionItem>
  ),
  [AttentionKind.WEBHOOK_FAILING]: ({ workspace, subject }) => (
    <AttentionItem
      bad
      says={
        <>
          No event has arrived at {subject.name} since <Time at={subject.at} exact />.
        </>
      }
      besides="Each event is tried for a while. After five days of failures the webhook is disabled."
    >
      <WebhookLink {...{ workspace, subject }} />
    </AttentionItem>
  ),
  [AttentionKind.REFUND_DUE]: ({ workspace, subject: { id, at } }) => (
    <AttentionItem
      says={
        <>
          The refund of <ShipmentLink {...{ workspace, id }} /> has been due since{" "}
          <Time at={at} exact />.
        </>
      }
      besides="The shipment was cancelled after it was paid. Give the customer the money back, then record that."
    >
      <a
        class="button"
        href={paths.shipment({ workspace, reference: id })}
        aria-label={`See the shipment ${id}`}
      >
        See the shipment
      </a>
    </AttentionItem>
  ),
  [AttentionKind.API_KEY_ENDING]: ({ workspace, subject: { name, at } }) => (
    <AttentionItem
      says={
        <>
          The key {name === undefined ? "without a name" : `“${name}”`} ends <Time at={at} />.
        </>
      }
      besides="Whatever still calls with it needs another key by then."
    >
      <a class="button" href={paths.apiKeys({ workspace })}>
        See the keys
      </a>
    </AttentionItem>
  ),
};

function ShipmentLink({ workspace, id }: { readonly workspace: string; readonly id: string }) {
  return (
    <a href={paths.shipment({ workspace, reference: id })}>
      <code>{id}</code>
    </a>
  );
}

function WebhookLink({ workspace, subject: { id, name } }: Subject) {
  return (
    <a
      class="button"
      href={paths.webhook({ workspace, webhook: id })}
      aria-label={`See the webhook ${name}`}
    >
      See the webhook
    </a>
  );
}

function RetryRefund({ shipment }: { readonly shipment: string }) {
  const shipments = useClient(ShipmentService);
  const retry = useAction(async () => {
    await shipments.retryRefund({ shipment });
    toast("The refund is tried again.");
  });
  if (!hasRole(useWorkspace(), "member")) return null;
  return (
    <ActionButton action={retry} label={`Try again: the refund of ${shipment}`}>
      Try again
    </ActionButton>
  );
}
