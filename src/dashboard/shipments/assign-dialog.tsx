import type { VNode } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { type CourierProfile, CourierService } from "../../../gen/shipments/v1/courier_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { useClient } from "../api/clients.ts";
import { fieldError } from "../api/problem.ts";
import { paths } from "../routes/paths.ts";
import { Button } from "../ui/button.tsx";
import { labelOf } from "./step.ts";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField } from "../ui/fields.tsx";
import { dateOf, relativeText } from "../ui/format.ts";
import { Progress, QueryView, Spinner } from "../ui/page.tsx";
import { type ActDialogProps, partsOf, ShipmentLines, useRun } from "./act-dialog.tsx";
import { ASSIGN, referencesOf } from "./acts.ts";
import { loadRun, useCouriers } from "./courier-run.ts";
import { countText } from "./newest-shipments.ts";
import { nextStopOf } from "./next-stop.ts";
import { byNearest, byWindow } from "./stop-order.ts";
import { windowOf, windowText } from "./windows.ts";

const ORDERS = { window: byWindow, nearest: byNearest };

const ORDER_CHOICES = [
  ["window", "By time window"],
  ["nearest", "Nearest first (proposal)"],
] as const;

type OrderName = keyof typeof ORDERS;

type Props = Omit<ActDialogProps, "act"> & {
  /** Dialog for a courier who is not in the list. */
  readonly unlisted?: VNode;
};

/** Assigns a courier to shipments. Proposes an order of the stops, which follow the courier's other stops. */
export function AssignDialog(props: Props) {
  const { shipments, others = 0, close, unlisted } = props;
  const couriers = useCouriers({ figures: true });
  const [isUnlisted, setUnlisted] = useState(false);
  const [courier, setCourier] = useState("");
  const [order, setOrder] = useState<OrderName>("window");
  const ordered = useMemo(() => ORDERS[order](shipments), [order, shipments]);
  const { assign, done } = useAssignment(props, courier, ordered);
  const single = shipments.length === 1 ? shipments[0] : undefined;
  const verb = single ? labelOf("Assign courier", single) : "Assign courier";
  const frame = { title: `${verb}: ${single?.reference ?? countText(shipments.length)}`, close };
  if (unlisted && (isUnlisted || couriers.data?.length === 0)) return unlisted;
  if (couriers.data === undefined && couriers.problem === undefined) {
    return (
      <Dialog key="loading" {...frame}>
        <Spinner label="Loading couriers" />
      </Dialog>
    );
  }
  return (
    <Dialog {...frame} submit={verb} run={assign}>
      {others > 0 && <p>{others} of the selected shipments will not change.</p>}
      <QueryView query={couriers}>
        {(data) =>
          data.length === 0 ? (
            <p>
              No couriers yet. <a href={paths.couriers()}>Add courier</a> first.
            </p>
          ) : (
            <SelectField
              name="courier"
              label="Courier"
              value={courier}
              onInput={setCourier}
              choices={[["", "Choose a courier"], ...data.map((it) => [it.id, courierText(it)] as const)]}
            />
          )
        }
      </QueryView>
      {unlisted && (
        <p>
          <Button onClick={() => setUnlisted(true)}>Courier not in the list</Button>
        </p>
      )}
      {shipments.length > 1 && (
        <SelectField
          name="order"
          label="Order of stops"
          value={order}
          onInput={(name) => setOrder(name as OrderName)}
          hint={order === "nearest" ? "A proposal from straight-line distances. It ignores windows and traffic." : ""}
          choices={ORDER_CHOICES}
        />
      )}
      <ShipmentLines isOrdered lines={ordered.map((shipment) => [shipment, stopText(shipment)])} />
      {done !== undefined && <Progress label="Done:" done={done} />}
    </Dialog>
  );
}

/** Returns a function that adds the shipments, in this order, to the end of a courier's run. */
function useAssignment(props: Props, courier: string, ordered: readonly Shipment[]) {
  const couriers = useClient(CourierService);
  /** Sequence of the last other stop of the courier, known when the dialog is submitted. */
  const last = useRef(0);
  const act: ActDialogProps["act"] = {
    ...ASSIGN,
    note: () => "",
    send: (client, part, _, headers) =>
      client.assignCourier(
        {
          courier,
          shipments: part.map((shipment) => ({
            shipment: shipment.reference,
            sequence: last.current + 1 + ordered.indexOf(shipment),
            // A shipment that is sent again after a refusal may have changed.
            etag: parts.some(({ shipments }) => shipments === part) ? shipment.etag : undefined,
          })),
        },
        { headers },
      ),
  };
  const parts = useMemo(() => partsOf(ordered), [ordered, courier]);
  const { run, done } = useRun({ ...props, act }, parts);
  const assign = async (form: FormData) => {
    if (courier === "") throw fieldError("courier", "Choose a courier.");
    last.current = lastSequence(await loadRun(couriers, courier), props.shipments);
    return run(form);
  };
  return { assign, done };
}

/** Returns the last sequence among a courier's stops other than the assigned ones, 0 without stops. */
function lastSequence(run: readonly Shipment[], assigned: readonly Shipment[]): number {
  const references = new Set(referencesOf(assigned));
  const others = run.filter(({ reference }) => !references.has(reference));
  return Math.max(0, ...others.map(({ courier }) => courier?.sequence ?? 0));
}

function courierText({ name, vehicle, figures }: CourierProfile): string {
  const seen = figures?.lastSeenAt && `seen ${relativeText(dateOf(figures.lastSeenAt), new Date())}`;
  return [name, `${countText(figures?.left ?? 0)} left`, vehicle ?? seen].filter(Boolean).join(" · ");
}

function stopText(shipment: Shipment): string {
  const { window, address } = nextStopOf(shipment);
  const time = window ? windowText(windowOf(window), window.timeZone) : "As soon as possible";
  return [time, address, shipment.courier?.name && `now ${shipment.courier.name}`].filter(Boolean).join(" · ");
}
