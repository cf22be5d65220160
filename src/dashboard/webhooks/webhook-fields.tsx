import type { Webhook } from "../../../gen/shipments/v1/webhook_pb.js";
import { ChoicesField, TextField, textOf } from "../ui/fields.tsx";

const TYPES = [
  ["shipment.created", "Booked"],
  ["shipment.updated", "Changed"],
  ["shipment.paid", "Paid"],
  ["shipment.awaiting_pickup", "Ready for pickup"],
  ["shipment.in_transit", "Picked up"],
  ["shipment.delivered", "Delivered"],
  ["shipment.cancelled", "Cancelled"],
  ["shipment.refunded", "Refunded"],
  ["webhook.disabled", "A webhook was disabled"],
  ["webhook.test", "A test"],
] as const;

/** Stands for all types, those that come later too. */
const ALL = "*";

/** The fields `url` and `types` of a webhook. */
export function WebhookFields({ webhook }: { readonly webhook?: Webhook }) {
  return (
    <>
      <TextField
        name="url"
        label="URL"
        value={webhook?.url}
        placeholder="https://example.org/shipments"
        hint="Reached from the internet by https."
      />
      <ChoicesField
        name="types"
        label="Events"
        choices={TYPES}
        values={webhook?.types ?? []}
        hint="None chosen stands for all, those that are added later too."
      />
    </>
  );
}

/** What was typed into the fields. */
export function webhookOf(form: FormData): { readonly url: string; readonly types: string[] } {
  const types = form.getAll("types").map(String);
  return { url: textOf(form, "url"), types: types.length === 0 ? [ALL] : types };
}

/** The types of events that a webhook is sent, in words. */
export function typesText({ types }: Webhook): string {
  return types.includes(ALL) ? "All events" : types.join(", ");
}
