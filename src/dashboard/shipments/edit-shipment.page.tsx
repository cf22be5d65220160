import { useMemo, useState } from "preact/hooks";
import { ShipmentStatus, type Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService, UpdateShipmentRequestSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { WorkspaceService } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { useRole } from "../api/session.ts";
import { useRpc } from "../api/use-query.ts";
import { type ParametersOf, paths } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { Edit, EditForm, type EditFormProps } from "../ui/edit-form.tsx";
import { textOf } from "../ui/form-data.ts";
import { DetailPage, Empty, Section, QueryView } from "../ui/page.tsx";
import { RequestFields } from "../ui/request-fields.tsx";
import { Money } from "../ui/values.tsx";
import { Quote, TimesSection, useQuote } from "./quote.tsx";
import { RouteFields } from "./route-fields.tsx";
import { outsideOf, ROUTE_FIELDS, routeOf, routeTextOf } from "./route.ts";
import { RecordFields, recordOf } from "./record-fields.tsx";
import { metadataOf } from "./record-rows.tsx";
import { useWindows, windowChanges } from "./use-windows.ts";
import { bookedWindows } from "./windows.ts";
import "./shipments.css";

/** Edits an undelivered shipment. Its route can change until payment. */
export function EditShipmentPage({ workspace, reference }: ParametersOf<"editShipment">) {
  const query = useRpc(ShipmentService.method.getShipment, { shipment: reference });
  const mayChange = useRole("member");
  useLive(query.reload, (event) => event.shipment === reference);
  const up = { label: reference, href: paths.shipment({ reference }) };
  return (
    <DetailPage
      query={query}
      up={up}
      what="shipment"
      fallbackTitle="Edit shipment"
      missing={`No shipment of this workspace has the reference ${reference}.`}
      unlinked
    >
      {(shipment) =>
        mayChange && EDITABLE.includes(shipment.status) ? (
          <div class="booking">
            <Edit
              record={shipment}
              form={ShipmentForm}
              close={() => navigate(paths.shipment({ workspace, reference }), { replace: true })}
            />
          </div>
        ) : (
          <Empty title="It cannot be edited" link={{ ...up, label: "Show shipment" }}>
            Members can edit shipments until they are delivered or cancelled.
          </Empty>
        )
      }
    </DetailPage>
  );
}

const EDITABLE: readonly ShipmentStatus[] = [
  ShipmentStatus.PENDING,
  ShipmentStatus.AWAITING_PICKUP,
  ShipmentStatus.IN_TRANSIT,
];

function ShipmentForm(props: EditFormProps<Shipment>) {
  const about = useRpc(WorkspaceService.method.getWorkspace, {});
  return (
    <QueryView query={about}>
      {({ data }) => <ShipmentFields {...props} hasSearch={data?.addressSearch === true} />}
    </QueryView>
  );
}

function ShipmentFields(props: EditFormProps<Shipment> & { readonly hasSearch: boolean }) {
  const { from, hasSearch } = props;
  const shipments = useClient(ShipmentService);
  // The route is fixed once the shipment is paid or the payment is processing.
  const isPending = from.status === ShipmentStatus.PENDING && from.paymentDetails?.processing !== true;
  const [route, setRoute] = useState(() => routeTextOf(from));
  const booked = useMemo(() => bookedWindows(from), [from]);
  const bookedRoute = routeTextOf(from);
  const isMoved = ROUTE_FIELDS.some((name) => route[name] !== bookedRoute[name]);
  const windows = useWindows(route, { isWanted: isPending && isMoved, booked });
  const quote = useQuote(route, windows, isMoved);
  // Times that the form did not show stay unchanged.
  const moved = isMoved ? { ...routeOf(route), ...windowChanges(windows, booked) } : {};
  return (
    <EditForm
      {...props}
      what="shipment"
      save={(form, options) => shipments.updateShipment(changesOf(form, from, moved), options)}
      reword={windows.reword}
      bar={isMoved ? <Quote query={quote} windows={windows} /> : <OldPrice {...from} />}
    >
      <div class={isPending ? "columns" : "stack"}>
        <Section title="Route">
          <div class={isPending ? "form" : "route-end"}>
            {isPending ? (
              <RouteFields
                route={route}
                change={(changes) => setRoute((before) => ({ ...before, ...changes }))}
                addresses={{ pickup: from.pickupAddress, dropoff: from.dropoffAddress }}
                hasSearch={hasSearch}
                outside={outsideOf(quote.data)}
              />
            ) : (
              <RequestFields
                of={UpdateShipmentRequestSchema}
                fields={{ pickupAddress: "Pickup address", dropoffAddress: "Dropoff address" }}
                values={from}
              />
            )}
          </div>
        </Section>
        <div>
          {isMoved && <TimesSection {...{ route, windows, quote, booked }} />}
          <Section title="Delivery details">
            <RecordFields request={UpdateShipmentRequestSchema} from={from} />
          </Section>
        </div>
      </div>
    </EditForm>
  );
}

type MovedRoute = Partial<ReturnType<typeof routeOf> & ReturnType<typeof windowChanges>>;

function changesOf(form: FormData, from: Shipment, { clear = [], ...moved }: MovedRoute) {
  const record = recordOf(UpdateShipmentRequestSchema, form);
  return {
    shipment: from.reference,
    etag: from.etag,
    pickupAddress: textOf(form, "pickup_address"),
    dropoffAddress: textOf(form, "dropoff_address"),
    ...record,
    ...moved,
    clear: record.items.length > 0 ? clear : [...clear, "items"],
    // The service removes blank entries.
    metadata: { ...Object.fromEntries(Object.keys(from.metadata).map((name) => [name, ""])), ...metadataOf(form) },
  };
}

function OldPrice({ total, currency }: Shipment) {
  return (
    <p class="minor">
      It costs <Money amount={total} currency={currency} />.
    </p>
  );
}
