import { numberText } from "../ui/format.ts";

export const COURIER_FIELDS = {
  name: "Name",
  phone: { label: "Phone", placeholder: "+12125550123", hint: "Include the country code." },
  email: { label: "Email", hint: "Links can be emailed to this address." },
  vehicle: { label: "Vehicle", placeholder: "Cargo bike" },
  externalId: { label: "External ID", hint: "The courier’s ID in your own system." },
  locale: { label: "Language", placeholder: "de", hint: "A language tag, such as de or fr-CA." },
  note: { label: "Note", isLong: true, hint: "Visible only to workspace members." },
} as const;

/** A number of late shipments, highlighted unless it is 0. */
export function LateCount({ count = 0 }: { readonly count: number | undefined }) {
  return count === 0 ? <>0</> : <span class="line late">{numberText(count)}</span>;
}
