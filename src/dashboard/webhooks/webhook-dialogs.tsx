import type { Webhook } from "../../../gen/shipments/v1/webhook_pb.js";
import { WebhookService } from "../../../gen/shipments/v1/webhook_service_pb.js";
import { useClient } from "../api/clients.ts";
import { paths } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { Dialog, SecretDialog } from "../ui/dialog.tsx";
import { ChoicesField, numberOf, OverlapField, TextField, textOf } from "../ui/fields.tsx";
import { toast } from "../ui/toast.tsx";

/** The types of events, and what they are called. */
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

function fieldsIn(form: FormData): { readonly url: string; readonly types: string[] } {
  const types = form.getAll("types").map(String);
  return { url: textOf(form, "url"), types: types.length === 0 ? [ALL_TYPES] : types };
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

/** Adds a webhook, shows its secret, and leads to it. */
export function CreateWebhook({ workspace }: { readonly workspace: string }) {
  const webhooks = useClient(WebhookService);
  return (
    <Dialog
      title="Add a webhook"
      submit="Add the webhook"
      run={async (form, idempotencyOptions) => {
        const { data, secret } = await webhooks.createWebhook(fieldsIn(form), idempotencyOptions);
        const close = () => navigate(paths.webhook({ workspace, webhook: data!.id }));
        return <WebhookSecret secret={secret} close={close} />;
      }}
    >
      <WebhookFields />
    </Dialog>
  );
}

interface Props {
  readonly webhook: Webhook;
  readonly changed: () => void;
}

export function EditWebhook({ webhook, changed }: Props) {
  const webhooks = useClient(WebhookService);
  return (
    <Dialog
      title="Edit the webhook"
      submit="Save"
      run={async (form) => {
        await webhooks.updateWebhook({ webhook: webhook.id, ...fieldsIn(form) });
        toast("The webhook is changed.");
        changed();
      }}
    >
      <WebhookFields webhook={webhook} />
    </Dialog>
  );
}

export function SwitchWebhook({ webhook: { id, enabled }, changed }: Props) {
  const webhooks = useClient(WebhookService);
  const title = enabled ? "Disable the webhook" : "Enable the webhook";
  return (
    <Dialog
      title={title}
      submit={title}
      tone={enabled ? "danger" : "primary"}
      run={async () => {
        await webhooks.updateWebhook({ webhook: id, enabled: !enabled });
        toast(enabled ? "The webhook is disabled." : "The webhook is enabled.");
        changed();
      }}
    >
      <p>
        {enabled
          ? "Nothing is sent to it until it is enabled, and what waits to be sent is given up."
          : "New events are sent to it from now on, and earlier failures are forgotten. What it missed can be sent again, event by event."}
      </p>
    </Dialog>
  );
}

export function RotateSecret({ webhook: { id }, changed }: Props) {
  const webhooks = useClient(WebhookService);
  return (
    <Dialog
      title="Rotate the secret"
      submit="Make a new secret"
      run={async (form, idempotencyOptions) => {
        const request = { webhook: id, overlapSeconds: numberOf(form, "overlap_seconds") };
        const { secret } = await webhooks.rotateWebhookSecret(request, idempotencyOptions);
        changed();
        return <WebhookSecret secret={secret} />;
      }}
    >
      <OverlapField
        label="The old secret ends"
        hint="Messages are signed with both until then, so that your receiver can change over."
        value={86_400}
      />
    </Dialog>
  );
}

export function DeleteWebhook(props: { readonly webhook: Webhook; readonly list: string }) {
  const { webhook, list } = props;
  const webhooks = useClient(WebhookService);
  return (
    <Dialog
      title="Delete the webhook"
      submit="Delete the webhook"
      tone="danger"
      run={async () => {
        await webhooks.deleteWebhook({ webhook: webhook.id });
        toast("The webhook is deleted.");
        navigate(list);
      }}
    >
      <p>
        Nothing is sent to <code>{webhook.url}</code> any more, and its deliveries are forgotten.
        This cannot be undone.
      </p>
    </Dialog>
  );
}
