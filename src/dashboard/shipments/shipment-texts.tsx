import type { DescField, DescMessage } from "@bufbuild/protobuf";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import type { CreateShipmentRequest } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { TextField } from "../ui/fields.tsx";
import { textOf } from "../ui/form-data.ts";

type Optional<M> = {
  [Name in keyof M]-?: undefined extends M[Name]
    ? M[Name] extends string | undefined
      ? Name
      : never
    : never;
}[keyof M];

type TextName = Exclude<Optional<Shipment> & Optional<CreateShipmentRequest>, "quoteId">;

/** Texts that a booking may give a shipment, as forms and its page show them. */
const TEXTS: Readonly<Record<TextName, { readonly label: string; readonly hint?: string }>> = {
  externalReference: {
    label: "External reference",
    hint: "Your own number for it, such as that of an order. Each is used once.",
  },
};

const isText = ({ localName }: DescField) => localName in TEXTS;

/** Fields for those that a request has. */
export function ShipmentTextFields(props: {
  readonly request: DescMessage;
  readonly from?: Shipment;
}) {
  return props.request.fields.filter(isText).map(({ name, localName }) => {
    const text = localName as TextName;
    return (
      <TextField key={name} name={name} value={props.from?.[text]} optional {...TEXTS[text]} />
    );
  });
}

export function shipmentTextsOf(
  request: DescMessage,
  form: FormData,
): Partial<Record<TextName, string>> {
  const fields = request.fields.filter(isText);
  return Object.fromEntries(fields.map(({ name, localName }) => [localName, textOf(form, name)]));
}

export function shipmentTextItems(shipment: Shipment) {
  return Object.entries(TEXTS).map(
    ([name, { label }]) => [label, shipment[name as TextName]] as const,
  );
}
