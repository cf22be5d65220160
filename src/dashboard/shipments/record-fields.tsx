import type { DescMessage } from "@bufbuild/protobuf";
import type { ComponentChildren } from "preact";
import { DropoffVerification } from "../../../gen/shipments/v1/courier_pb.js";
import { DropoffHandover, type Shipment, UndeliverableAction } from "../../../gen/shipments/v1/shipment_pb.js";
import type { CreateShipmentRequest } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { choicesOf } from "../ui/fields.tsx";
import { Fold } from "../ui/fold.tsx";
import { useRestoredRows } from "../ui/form.tsx";
import { requestOf } from "../ui/form-data.ts";
import { type FieldText, RequestFields } from "../ui/request-fields.tsx";
import { HANDOVERS, UNDELIVERABLE_ACTIONS, VERIFICATIONS } from "./delivery-choices.ts";
import { ItemFields, itemsOf, MetadataFields } from "./record-rows.tsx";

type OptionalField = {
  [Name in keyof CreateShipmentRequest]-?: undefined extends CreateShipmentRequest[Name]
    ? CreateShipmentRequest[Name] extends string | number | undefined
      ? Name
      : never
    : never;
}[keyof CreateShipmentRequest];

type RouteField = "pickupLat" | "pickupLng" | "dropoffLat" | "dropoffLng" | "weightKg";

/** Optional text and number fields of a booking that a shipment also has, except those of the quote and the route. */
type FieldName = Exclude<OptionalField & keyof Shipment, "quoteId" | RouteField>;

const PHONE_HINT = "With country code, such as +12125550123";

/** Labels, hints and defaults of the fields for the courier. */
const DELIVERY = {
  pickupContactName: { label: "Pickup contact" },
  pickupContactPhone: { label: "Contact’s phone", hint: PHONE_HINT },
  pickupInstructions: { label: "Pickup instructions", isLong: true },
  dropoffInstructions: {
    label: "Dropoff instructions",
    hint: "The recipient can change them on the tracking page until pickup.",
    isLong: true,
  },
  packageCount: { label: "Packages", value: 1, optional: false },
  packageDescription: { label: "Package description" },
  dropoffHandover: {
    label: "Handover",
    hint: "Leaving it at the door requires a photo.",
    value: DropoffHandover.MEET,
    choices: choicesOf(HANDOVERS).slice(1),
  },
  ifUndeliverable: {
    label: "If it cannot be delivered",
    value: UndeliverableAction.RETURN,
    choices: choicesOf(UNDELIVERABLE_ACTIONS).slice(1),
  },
} satisfies Partial<Record<FieldName, FieldText>>;

const OTHERS: Readonly<Record<Exclude<FieldName, keyof typeof DELIVERY>, FieldText>> = {
  externalReference: {
    label: "External reference",
    hint: "Your own number, such as an order number. Must be unique.",
  },
  recipientName: { label: "Recipient", hint: "If different from the customer" },
  recipientPhone: { label: "Recipient’s phone", hint: PHONE_HINT },
  recipientEmail: { label: "Recipient’s email" },
  recipientLocale: { label: "Recipient’s language", hint: "Such as en, es, fr or de" },
  dropoffVerification: {
    label: "Required at the door",
    hint: "Required before the shipment can be marked as delivered",
    value: DropoffVerification.NONE,
    choices: choicesOf(VERIFICATIONS).slice(1),
  },
};

const FIELDS: Readonly<Record<FieldName, FieldText>> = { ...DELIVERY, ...OTHERS };

/** Whether a shipment's field differs from the value of a booking that omits it. */
function isSet(shipment: Shipment, name: FieldName): boolean {
  return shipment[name] !== FIELDS[name].value;
}

interface RecordProps {
  readonly request: DescMessage;
  readonly from?: Shipment;
}

/** Rarely used fields of a booking. Read them with `recordOf`, and the notes with `metadataOf`. */
export function RecordFields({ request, from }: RecordProps) {
  const isRestored = { item: useRestoredRows(/^item_name$/) > 0, note: useRestoredRows(/^note_name$/) > 0 };
  const hasNotes = Object.keys(from?.metadata ?? {}).length > 0;
  return (
    <>
      <FoldedFields
        {...{ request, from }}
        summary="Instructions, packages and handover (optional)"
        fields={DELIVERY}
        list="items"
        isOpen={isRestored.item || (from?.items ?? []).length > 0}
      >
        <ItemFields from={from} />
      </FoldedFields>
      <FoldedFields
        {...{ request, from }}
        summary="Recipient, proof, reference and notes (optional)"
        fields={OTHERS}
        list="metadata"
        isOpen={isRestored.note || hasNotes}
      >
        <MetadataFields from={from} />
      </FoldedFields>
    </>
  );
}

function FoldedFields(
  props: RecordProps & {
    readonly summary: string;
    readonly fields: Partial<Record<FieldName, FieldText>>;
    /** Name of the list below the fields. */
    readonly list: string;
    readonly isOpen: boolean;
    readonly children: ComponentChildren;
  },
) {
  const { request, from, summary, list, isOpen } = props;
  const fields = Object.fromEntries(Object.entries(props.fields).filter(([name]) => name in request.field));
  const names = Object.keys(fields) as FieldName[];
  return (
    <Fold
      summary={summary}
      names={new RegExp(`^(${names.map((name) => request.field[name]!.name).join("|")}|${list})`)}
      isOpen={isOpen || (from !== undefined && names.some((name) => isSet(from, name)))}
    >
      <RequestFields of={request} fields={fields} values={from} />
      {props.children}
    </Fold>
  );
}

/** Returns the contents of `RecordFields`, except the notes. */
export function recordOf(request: DescMessage, form: FormData) {
  const read = Object.entries(requestOf(request, form)).filter(([name]) => name in FIELDS);
  return {
    ...(Object.fromEntries(read) as Partial<Pick<CreateShipmentRequest, FieldName>>),
    items: itemsOf(form),
  };
}

/** Fields that the shipment page shows below its title, with the stops or with the proof. */
const SHOWN_ELSEWHERE: readonly FieldName[] = [
  "pickupContactName",
  "pickupContactPhone",
  "pickupInstructions",
  "dropoffInstructions",
  "recipientName",
  "recipientPhone",
  "dropoffVerification",
  "externalReference",
];

/** Returns the other fields that a shipment has, as labeled values. */
export function recordItems(shipment: Shipment) {
  const names = (Object.keys(FIELDS) as FieldName[]).filter((name) => !SHOWN_ELSEWHERE.includes(name));
  return names
    .filter((name) => isSet(shipment, name))
    .map((name) => {
      const { label, choices } = FIELDS[name];
      const value = String(shipment[name]);
      const text = choices?.find(([choice]) => choice === value)?.[1] ?? value;
      return [label, <span class="multiline">{text}</span>] as const;
    });
}
