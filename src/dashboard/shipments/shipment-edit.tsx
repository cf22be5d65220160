import { useMemo, useState } from "preact/hooks";
import { ShipmentStatus, type Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import {
  ShipmentService,
  UpdateShipmentRequestSchema,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { EditForm, type EditFormProps } from "../ui/edit-dialog.tsx";
import { RequestFields } from "../ui/request-fields.tsx";
import { textOf } from "../ui/form-data.ts";
import {
  ShipmentTextFields,
  shipmentTextsOf,
  MetadataFields,
  metadataOf,
} from "./shipment-texts.tsx";
import { Money } from "../ui/values.tsx";
import { Quote, totalWithoutWindows, useQuote } from "./quote.tsx";
import { RouteFields } from "./route-fields.tsx";
import { ROUTE_FIELDS, routeOf, type RouteText } from "./route.ts";
import { useWindows, windowChanges, WindowFields, type Windows } from "./window-fields.tsx";
import { bookedWindows } from "./windows.ts";
import "./shipments.css";

export function ShipmentForm(props: EditFormProps<Shipment>) {
  const { from } = props;
  const shipments = useClient(ShipmentService);
  // What is paid stays as it is, also while the money is on its way.
  const isPending =
    from.status === ShipmentStatus.PENDING && from.paymentDetails?.processing !== true;
  const [route, setRoute] = useState(() => routeTextOf(from));
  const booked = useMemo(() => bookedWindows(from), [from]);
  const windows = useWindows(route, { isWanted: isPending, booked });
  const isMoved = !isRouteOf(from, route);
  const changesOf = (form: FormData) => ({
    shipment: from.reference,
    etag: from.etag,
    pickupAddress: textOf(form, "pickup_address"),
    dropoffAddress: textOf(form, "dropoff_address"),
    ...shipmentTextsOf(UpdateShipmentRequestSchema, form),
    // Times that were not shown stay as they are.
    ...(isMoved ? { ...routeOf(route), ...windowChanges(windows, booked) } : {}),
    metadata: { ...blanks(from.metadata), ...metadataOf(form) },
  });
  return (
    <EditForm
      {...props}
      what="shipment"
      save={(form, options) => shipments.updateShipment(changesOf(form), options)}
      inWords={windows.inWords}
    >
      {isPending ? (
        <>
          <RouteFields
            route={route}
            change={(changes) => setRoute((before) => ({ ...before, ...changes }))}
            addresses={{ pickup: from.pickupAddress, dropoff: from.dropoffAddress }}
          />
          {isMoved && <NewPrice from={from} route={route} windows={windows} />}
        </>
      ) : (
        <RequestFields
          of={UpdateShipmentRequestSchema}
          fields={{ pickupAddress: "Pickup address", dropoffAddress: "Dropoff address" }}
          values={from}
        />
      )}
      <ShipmentTextFields request={UpdateShipmentRequestSchema} from={from} />
      <MetadataFields notes={from.metadata} />
    </EditForm>
  );
}

function NewPrice(props: {
  readonly from: Shipment;
  readonly route: RouteText;
  readonly windows: Windows;
}) {
  const { from, route, windows } = props;
  const quote = useQuote(route, windows);
  return (
    <div class="new-price">
      <p>
        The price changes with the route and the weight. It was{" "}
        <Money amount={from.total} currency={from.currency} />.
      </p>
      <WindowFields
        windows={windows}
        booked={bookedWindows(from)}
        total={totalWithoutWindows(quote)}
        refused={quote.problem}
      />
      <Quote query={quote} windows={windows} />
    </div>
  );
}

function isRouteOf(shipment: Shipment, route: RouteText): boolean {
  const booked = routeTextOf(shipment);
  return ROUTE_FIELDS.every((name) => route[name] === booked[name]);
}

export function routeTextOf(shipment: Shipment): RouteText {
  return {
    pickup_lat: String(shipment.pickupLat),
    pickup_lng: String(shipment.pickupLng),
    dropoff_lat: String(shipment.dropoffLat),
    dropoff_lng: String(shipment.dropoffLng),
    weight_kg: String(shipment.weightKg),
  };
}

/** Every note with a blank text, which removes it. */
function blanks(notes: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(notes).map((name) => [name, ""]));
}
