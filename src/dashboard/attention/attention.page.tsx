import { useContext } from "preact/hooks";
import {
  AttentionKind,
  BookingBlocker,
  type AttentionSubject,
} from "../../../gen/shipments/v1/workspace_service_pb.js";
import { PaymentStatus, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useLive } from "../api/live.ts";
import { useRole } from "../api/session.ts";
import { useRpc } from "../api/use-query.ts";
import { paths, settingsHref, UNASSIGNED } from "../routes/paths.ts";
import { sumText } from "../ui/format.ts";
import type { Link } from "../ui/page.tsx";
import { DialogButton } from "../ui/dialog.tsx";
import { lazily } from "../ui/lazily.tsx";
import { BLOCKED } from "../workspaces/booking-blockers.tsx";
import { pickupStep } from "../shipments/step.ts";
import { useHasCouriers } from "../shipments/use-has-couriers.ts";
import type { RefundAct } from "../shipments/refunds-dialog.tsx";
import { AttentionList, type Group, type Kind, TimeNote } from "./attention-list.tsx";
import { AttentionShipments, DUE, type ShipmentsOfKind, useAttentionSelection } from "./attention-shipments.tsx";
import { AttentionQuery } from "./attention-query.ts";

export function AttentionPage() {
  const { data, reload } = useContext(AttentionQuery)!;
  useLive(reload);
  const { bar, selection } = useAttentionSelection(data?.ofWorkspace ?? []);
  const mayChange = useRole("member");
  const hasLatePickups = data?.ofWorkspace.some(({ kind }) => kind === AttentionKind.PICKUP_LATE) ?? false;
  const hasCouriers = useHasCouriers(mayChange && hasLatePickups);
  return (
    <AttentionList
      otherwise="Late and failed deliveries, refunds due, failing webhooks, expiring keys and booking problems appear here automatically."
      kindsOf={({ ofWorkspace }) => ofWorkspace}
      groupOf={(kind) => groupOf(kind, { selection, hasCouriers })}
      bar={bar}
    />
  );
}

type KindText = Omit<Group<AttentionSubject>, "all"> & {
  readonly all: () => Link;
  readonly shipments?: ShipmentsOfKind;
  /** Action for all shipments of the kind, and the label of its button. */
  readonly forAll?: readonly [act: RefundAct, button: string];
};

/** Returns the link from a kind to the shipments with these filters. */
const inList = (label: string, query: Readonly<Record<string, string>> = {}) => ({
  all: () => ({ label, href: paths.shipments({}, query) }),
});
const OF_ALL = inList("All shipments");
const TO_PICK_UP = inList("All shipments to pick up", { status: String(ShipmentStatus.AWAITING_PICKUP) });
const IN_TRANSIT = inList("All shipments in transit", { status: String(ShipmentStatus.IN_TRANSIT) });
const REFUND_DUE = inList("All shipments with a refund due", { payment_status: String(PaymentStatus.REFUND_PENDING) });
const CANCELLED = { time: "Cancelled", areCancelled: true };
const OF_WEBHOOKS = {
  row: webhookRow,
  all: () => ({ label: "All webhooks", href: paths.webhooks() }),
};

const KINDS: Readonly<Partial<Record<AttentionKind, KindText>>> = {
  [AttentionKind.REFUND_FAILED]: {
    ...REFUND_DUE,
    shipments: CANCELLED,
    title: "Failed refunds",
    isBad: true,
    explanation: "These customers have not received their refunds.",
    forAll: ["retry", "Retry all"],
  },
  [AttentionKind.PAYMENT_UNCOUNTED]: {
    ...OF_ALL,
    shipments: {},
    title: "Unassigned payments",
    isBad: true,
    explanation:
      "Stripe may hold payments that were not assigned to these shipments. Refund them in Stripe, or accept them on the shipment’s page.",
  },
  [AttentionKind.DISPUTE_OPEN]: {
    ...OF_ALL,
    shipments: {},
    title: "Disputed payments",
    isBad: true,
    explanation: "These customers asked their bank to reverse the payment. Respond in Stripe before the bank decides.",
  },
  [AttentionKind.PICKUP_LATE]: {
    ...TO_PICK_UP,
    shipments: { time: DUE, step: pickupStep },
    title: "Late pickups",
    explanation: "These shipments missed their window, or have waited too long. Assign or call a courier.",
  },
  [AttentionKind.DELIVERY_LATE]: {
    ...IN_TRANSIT,
    shipments: { time: DUE, step: () => "Mark as delivered" },
    title: "Late deliveries",
    explanation: "These shipments missed their window, or will miss it. Call the courier or the recipient.",
  },
  [AttentionKind.COURIER_MISSING]: {
    ...inList("All unassigned shipments", { courier: UNASSIGNED }),
    shipments: { time: DUE, step: () => "Assign courier" },
    title: "No courier yet",
    explanation: "These shipments are late or become late within the hour and have no courier. Assign one.",
  },
  [AttentionKind.COURIER_UNSEEN]: {
    title: "Couriers not seen for 20 minutes",
    explanation: "These couriers have shipments left. Call them, or assign the shipments to others.",
    row: ({ id, name, at }) => ({
      name,
      href: paths.courier({ courier: id }),
      note: <TimeNote what="last seen" at={at} />,
    }),
    all: () => ({ label: "All couriers", href: paths.couriers() }),
  },
  [AttentionKind.ATTEMPTS_FAILED]: {
    ...IN_TRANSIT,
    shipments: { time: "Last attempt", step: () => "Assign courier" },
    title: "Failed attempts",
    explanation:
      "Call the recipient and agree on another time, change the courier, or return the shipment from its page.",
  },
  [AttentionKind.PIN_LOCKED]: {
    ...IN_TRANSIT,
    shipments: { step: () => "Waive verification" },
    title: "Five wrong PINs",
    explanation: "Check the identity with the recipient, then waive the shipment’s verification.",
  },
  [AttentionKind.WEBHOOK_DISABLED]: {
    ...OF_WEBHOOKS,
    title: "Disabled webhooks",
    isBad: true,
    explanation:
      "They failed for too long and no longer receive events. Fix the receiver, then enable the webhook. Missed events can be sent again.",
  },
  [AttentionKind.WEBHOOK_FAILING]: {
    ...OF_WEBHOOKS,
    title: "Failing webhooks",
    isBad: true,
    explanation:
      "Deliveries are failing. Each one is retried for a limited time. The webhook is disabled after five days without a successful delivery.",
  },
  [AttentionKind.REFUND_DUE]: {
    ...REFUND_DUE,
    shipments: { ...CANCELLED, step: () => "Record refund" },
    title: "Refunds due",
    explanation: "These shipments were cancelled after payment. Refund the customers, then record the refunds.",
    forAll: ["record", "Record all refunds"],
  },
  [AttentionKind.API_KEY_ENDING]: {
    title: "Expiring keys",
    explanation: "API clients that use these keys need new ones before they expire.",
    row: ({ name, at }) => ({
      name: name ?? "Unnamed key",
      href: paths.apiKeys(),
      note: <TimeNote what="ends" at={at} />,
    }),
    all: () => ({ label: "All keys", href: paths.apiKeys() }),
  },
};

function groupOf(
  { kind, count, subjects }: Kind<AttentionKind, AttentionSubject>,
  shipmentProps: Pick<Parameters<typeof AttentionShipments>[0], "selection" | "hasCouriers">,
) {
  if (kind === AttentionKind.TARIFF || kind === AttentionKind.PAYMENT_PROVIDER) {
    return blocked(kind === AttentionKind.TARIFF);
  }
  const text = KINDS[kind];
  if (text === undefined) return undefined;
  return {
    ...text,
    all: text.all(),
    rows: text.shipments && (
      <AttentionShipments label={text.title} of={text.shipments} {...{ subjects, ...shipmentProps }} />
    ),
    sum: kind === AttentionKind.REFUND_DUE && <RefundSum count={count} />,
    action: text.forAll && <ForAll act={text.forAll} named={subjects.map(({ id }) => id)} />,
  };
}

function blocked(isTariff: boolean): Group<AttentionSubject> {
  const [what, next] = BLOCKED[isTariff ? BookingBlocker.TARIFF : BookingBlocker.PAYMENT_PROVIDER];
  return {
    title: what,
    explanation: `Bookings are blocked. ${next}`,
    all: isTariff ? undefined : { label: "Set up payments", href: settingsHref("payments") },
  };
}

function webhookRow({ id, name, at }: AttentionSubject) {
  return { name, href: paths.webhook({ webhook: id }), note: at && <TimeNote what="since" at={at} exact /> };
}

/** Shows the sum of due refunds. Hidden if it does not cover the same number of shipments as the count. */
function RefundSum({ count }: { readonly count: number }) {
  const due = useRpc(ShipmentService.method.countShipments, {}).data?.data?.refundDue;
  return due?.count === count && !due.more ? <strong>{sumText(due.totals)}</strong> : null;
}

const RefundsDialog = lazily(() => import("../shipments/refunds-dialog.tsx"), "RefundsDialog");

/** A button that acts on all shipments of a kind. Hidden from users without permission. */
function ForAll(props: { readonly act: readonly [act: RefundAct, button: string]; readonly named: readonly string[] }) {
  const [act, button] = props.act;
  if (!useRole("member")) return null;
  return <DialogButton dialog={<RefundsDialog act={act} named={props.named} />}>{button}</DialogButton>;
}
