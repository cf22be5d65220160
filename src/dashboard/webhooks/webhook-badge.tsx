import {
  WebhookDeliveryStatus,
  WebhookDisabledReason,
  type Webhook,
  type WebhookDelivery,
} from "../../../gen/shipments/v1/webhook_pb.js";
import { Badge, choicesOf, type Label } from "../ui/badge.tsx";
import { numberText } from "../ui/format.ts";
import { Time } from "../ui/values.tsx";

const DISABLED: Readonly<Record<WebhookDisabledReason, string>> = {
  [WebhookDisabledReason.UNSPECIFIED]: "Disabled",
  [WebhookDisabledReason.REQUEST]: "Disabled",
  [WebhookDisabledReason.GONE]: "Disabled: it answered 410 Gone",
  [WebhookDisabledReason.FAILING]: "Disabled: it failed for five days",
};

export function WebhookBadge({ webhook }: { readonly webhook: Webhook }) {
  const { enabled, disabledReason = WebhookDisabledReason.UNSPECIFIED, failingSince } = webhook;
  if (!enabled) {
    const isRequested = disabledReason === WebhookDisabledReason.REQUEST;
    return <Badge tone={isRequested ? "neutral" : "bad"}>{DISABLED[disabledReason]}</Badge>;
  }
  if (failingSince === undefined) return <Badge tone="good">Enabled</Badge>;
  return (
    <Badge tone="bad">
      Failing since <Time at={failingSince} exact />
    </Badge>
  );
}

const DELIVERY: Readonly<Record<WebhookDeliveryStatus, Label>> = {
  [WebhookDeliveryStatus.UNSPECIFIED]: ["Unknown", "neutral"],
  [WebhookDeliveryStatus.PENDING]: ["Pending", "attention"],
  [WebhookDeliveryStatus.DELIVERED]: ["Delivered", "good"],
  [WebhookDeliveryStatus.FAILED]: ["Failed", "bad"],
};

export const DELIVERY_STATUSES = choicesOf(DELIVERY);

/** What the last attempt came to, and how long it took: `204 in 35 ms`. */
export function LastAnswer({ delivery }: { readonly delivery: WebhookDelivery }) {
  const { lastStatus, lastError, lastDurationMs } = delivery;
  if (lastDurationMs === undefined) return <>—</>;
  return (
    <>
      {lastStatus ?? lastError} <span class="minor">in {numberText(lastDurationMs)} ms</span>
    </>
  );
}

export function DeliveryBadge({ status }: { readonly status: WebhookDeliveryStatus }) {
  const [text, tone] = DELIVERY[status];
  return <Badge tone={tone}>{text}</Badge>;
}
