import type { Webhook } from "../../../gen/shipments/v1/webhook_pb.js";
import { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { paths } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { SecretDialog, RpcDialog } from "../ui/dialog.tsx";
import { ChoicesField, OverlapField, TextField } from "../ui/fields.tsx";

export const EVENT_TYPES = [
  ["shipment.created", "Booked"],
  ["shipment.updated", "Changed"],
  ["shipment.checkout_opened", "Pay link created"],
  ["shipment.payment_processing", "Payment on its way"],
  ["shipment.payment_failed", "Payment failed"],
  ["shipment.paid", "Paid"],
  ["shipment.awaiting_pickup", "Ready for pickup"],
  ["shipment.in_transit", "Picked up"],
  ["shipment.delivered", "Delivered"],
  ["shipment.cancelled", "Cancelled"],
  ["shipment.refunded", "Refunded"],
  ["shipment.partly_refunded", "Refunded in part"],
  ["shipment.refund_failed", "Refund failed"],
  ["shipment.dispute_opened", "Payment disputed"],
  ["shipment.dispute_closed", "Dispute decided"],
  ["webhook.disabled", "A webhook was disabled"],
  ["webhook.test", "A test"],
] as const;

/** Stands for all types, those that come later too. */
export const ALL_TYPES = "*";

function WebhookFields({ webhook }: { readonly webhook?: Webhook }) {
  return (
    <>
      <TextField
        name="url"
        label="URL"
        value={webhook?.url}
        placeholder="https://example.org/shipments"
        hint="An https address that can be reached from the internet."
      />
      <ChoicesField
        name="types"
        label="Events"
        choices={EVENT_TYPES}
        values={webhook?.types ?? []}
        hint="Choose none to be sent every event, of kinds that are added later too."
      />
    </>
  );
}

/** No type of event chosen stands for all. */
function typesIn(form: FormData) {
  return form.has("types") ? {} : { types: [ALL_TYPES] };
}

function WebhookSecret(props: { readonly secret: string; readonly close?: () => void }) {
  return (
    <SecretDialog title="The webhook’s secret" what="secret" {...props}>
      <p>
        Every message is signed with it, by Standard Webhooks: your receiver checks the header{" "}
        <code>webhook-signature</code> with it before it believes a message.
      </p>
    </SecretDialog>
  );
}

export function CreateWebhook({ workspace }: { readonly workspace: string }) {
  return (
    <RpcDialog
      method={WebhookService.method.createWebhook}
      title="Add a webhook"
      submit="Add the webhook"
      request={typesIn}
      then={({ data, secret }) => {
        const close = () => navigate(paths.webhook({ workspace, webhook: data!.id }));
        return <WebhookSecret secret={secret} close={close} />;
      }}
    >
      <WebhookFields />
    </RpcDialog>
  );
}

interface Props {
  readonly webhook: Webhook;
}

export function EditWebhook({ webhook }: Props) {
  return (
    <RpcDialog
      method={WebhookService.method.updateWebhook}
      title="Edit the webhook"
      submit="Save"
      request={(form) => ({ webhook: webhook.id, ...typesIn(form) })}
      done="The webhook is changed."
    >
      <WebhookFields webhook={webhook} />
    </RpcDialog>
  );
}

export function SwitchWebhook({ webhook: { id, enabled } }: Props) {
  const title = enabled ? "Disable the webhook" : "Enable the webhook";
  return (
    <RpcDialog
      method={WebhookService.method.updateWebhook}
      title={title}
      tone={enabled ? "danger" : "primary"}
      request={{ webhook: id, enabled: !enabled }}
      done={enabled ? "The webhook is disabled." : "The webhook is enabled."}
    >
      <p>
        {enabled
          ? "Nothing is sent to it until it is enabled, and what waits to be sent is given up."
          : "New events are sent to it from now on, and earlier failures are forgotten. What it missed can be sent again, event by event."}
      </p>
    </RpcDialog>
  );
}

export function RotateSecret({ webhook: { id } }: Props) {
  return (
    <RpcDialog
      method={WebhookService.method.rotateWebhookSecret}
      title="Rotate the secret"
      submit="Make a new secret"
      request={{ webhook: id }}
      then={({ secret }) => {
        return <WebhookSecret secret={secret} />;
      }}
    >
      <OverlapField
        label="The old secret ends"
        hint="Messages are signed with both until then, so that your receiver can change over."
        value={86_400}
      />
    </RpcDialog>
  );
}

export function DeleteWebhook(props: { readonly webhook: Webhook; readonly list: string }) {
  const { webhook, list } = props;
  return (
    <RpcDialog
      method={WebhookService.method.deleteWebhook}
      title="Delete the webhook"
      tone="danger"
      request={{ webhook: webhook.id }}
      done="The webhook is deleted."
      then={() => navigate(list)}
    >
      <p>
        Nothing is sent to <code>{webhook.url}</code> any more, and its deliveries are forgotten.
        This cannot be undone.
      </p>
    </RpcDialog>
  );
}
