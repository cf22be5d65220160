import {
  type Webhook,
  WebhookDeliveryStatus,
  WebhookDisabledReason,
  type WebhookDelivery,
} from "../../../gen/shipments/v1/webhook_pb.js";
import { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { useWorkspace } from "../api/session.ts";
import { paths } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { RpcButton, SecretDialog } from "../ui/dialog.tsx";
import { changesOf } from "../ui/changes-of.ts";
import { More } from "../ui/menu.tsx";
import { OverlapField } from "../ui/fields.tsx";
import { Badge, choicesOf, type Label } from "../ui/description-list.tsx";
import { numberText } from "../ui/format.ts";
import { TYPE_CHOICES } from "./event-types.ts";

/** Value for all event types, including future types. */
export const ALL_TYPES = "*";

const { createWebhook, deleteWebhook, rotateWebhookSecret, updateWebhook } = WebhookService.method;

const FIELDS = {
  url: {
    label: "URL",
    placeholder: "https://example.org/shipments",
    hint: "An https address that can be reached from the internet.",
  },
  types: {
    label: "Events",
    choices: TYPE_CHOICES,
    hint: "Leave empty to receive all events, including types added later.",
  },
};

/** Returns the selected event types. No selection means all types. */
function typesIn(form: FormData) {
  return form.has("types") ? {} : { types: [ALL_TYPES] };
}

function WebhookSecret(props: { readonly secret: string; readonly close?: () => void }) {
  return (
    <SecretDialog title="The webhook’s secret" what="secret" {...props}>
      <p>
        Messages are signed with it as in Standard Webhooks. Your receiver must check the header{" "}
        <code>webhook-signature</code> before it accepts a message.
      </p>
    </SecretDialog>
  );
}

export function CreateWebhook() {
  const { id: workspace } = useWorkspace();
  return (
    <RpcButton
      primary
      button="Add webhook"
      method={createWebhook}
      request={typesIn}
      fields={FIELDS}
      then={({ data, secret }) => {
        const close = () => navigate(paths.webhook({ workspace, webhook: data!.id }));
        return <WebhookSecret secret={secret} close={close} />;
      }}
    />
  );
}

/** Actions for admins on a webhook. */
export function WebhookActions({ webhook }: { readonly webhook: Webhook }) {
  const { id, url } = webhook;
  const { id: workspace } = useWorkspace();
  const request = { webhook: id };
  return (
    <>
      {!webhook.enabled && <SwitchButton webhook={webhook} />}
      <More>
        <RpcButton
          button="Edit"
          method={updateWebhook}
          title="Edit webhook"
          submit="Save"
          request={(form) => ({ ...request, ...changesOf(updateWebhook.input, form, webhook, typesIn(form)) })}
          fields={FIELDS}
          values={webhook}
          done="Webhook updated."
        />
        <RpcButton
          button="Rotate secret"
          method={rotateWebhookSecret}
          title="Rotate the secret"
          submit="Generate new secret"
          request={request}
          then={({ secret }) => <WebhookSecret secret={secret} />}
        >
          <OverlapField
            label="Old secret expires"
            hint="Messages are signed with both until then, so that you can update your receiver."
            value={86_400}
          />
        </RpcButton>
        {webhook.enabled && <SwitchButton webhook={webhook} />}
        <RpcButton
          destructive
          button="Delete"
          method={deleteWebhook}
          title="Delete webhook"
          tone="danger"
          request={request}
          done="Webhook deleted."
          then={(_, isShown) => {
            if (isShown) navigate(paths.webhooks({ workspace }));
          }}
        >
          <p>
            Events are no longer sent to <code>{url}</code>, and its deliveries are deleted. This cannot be undone.
          </p>
        </RpcButton>
      </More>
    </>
  );
}

function SwitchButton({ webhook: { id, enabled } }: { readonly webhook: Webhook }) {
  return (
    <RpcButton
      primary={!enabled}
      button={enabled ? "Disable" : "Enable"}
      method={updateWebhook}
      title={enabled ? "Disable webhook" : "Enable webhook"}
      tone={enabled ? "danger" : "primary"}
      request={{ webhook: id, enabled: !enabled }}
      done={enabled ? "Webhook disabled." : "Webhook enabled."}
    >
      <p>
        {enabled
          ? "No events are sent until the webhook is enabled again. Pending deliveries are dropped."
          : "New events are sent from now on, and earlier failures are cleared. Missed events can be sent again one by one."}
      </p>
    </RpcButton>
  );
}

const DISABLED: Readonly<Record<WebhookDisabledReason, string>> = {
  [WebhookDisabledReason.UNSPECIFIED]: "Disabled",
  [WebhookDisabledReason.REQUEST]: "Disabled",
  [WebhookDisabledReason.GONE]: "Disabled: 410 Gone",
  [WebhookDisabledReason.FAILING]: "Disabled: failing",
};

export function WebhookBadge({ webhook }: { readonly webhook: Webhook }) {
  const { enabled, disabledReason = WebhookDisabledReason.UNSPECIFIED, failingSince } = webhook;
  if (!enabled) {
    const isRequested = disabledReason === WebhookDisabledReason.REQUEST;
    return <Badge tone={isRequested ? "neutral" : "bad"}>{DISABLED[disabledReason]}</Badge>;
  }
  return failingSince === undefined ? <Badge tone="good">Enabled</Badge> : <Badge tone="bad">Failing</Badge>;
}

const DELIVERY: Readonly<Record<WebhookDeliveryStatus, Label>> = {
  [WebhookDeliveryStatus.UNSPECIFIED]: ["Unknown", "neutral"],
  [WebhookDeliveryStatus.PENDING]: ["Pending", "attention"],
  [WebhookDeliveryStatus.DELIVERED]: ["Delivered", "good"],
  [WebhookDeliveryStatus.FAILED]: ["Failed", "bad"],
};

export const DELIVERY_STATUSES = choicesOf(DELIVERY);

/** Shows the status and duration of the last response, such as `204 in 35 ms`, or the error. */
export function LastResponse({ delivery }: { readonly delivery: WebhookDelivery }) {
  const { lastStatus, lastError, lastDurationMs } = delivery;
  if (lastDurationMs === undefined) return <>—</>;
  return (
    <>
      {lastStatus ?? lastError}
      {lastStatus !== undefined && <span class="minor"> in {numberText(lastDurationMs)} ms</span>}
    </>
  );
}

export function DeliveryBadge({ status }: { readonly status: WebhookDeliveryStatus }) {
  const [text, tone] = DELIVERY[status];
  return <Badge tone={tone}>{text}</Badge>;
}
