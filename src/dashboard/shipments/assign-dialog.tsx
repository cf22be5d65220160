import type { ComponentChildren } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { CourierService } from "../../../gen/shipments/v1/courier_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { useClient } from "../api/clients.ts";
import { fieldError } from "../api/problem.ts";
import { paths } from "../routes/paths.ts";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField } from "../ui/fields.tsx";
import { Progress, QueryView } from "../ui/page.tsx";
import { type ActDialogProps, partsOf, ShipmentLines, useRun } from "./act-dialog.tsx";
import { ASSIGN, referencesOf } from "./acts.ts";
import { loadRun, useCouriers } from "./courier-run.ts";
import { countText } from "./newest-shipments.ts";
import { byNearest, byWindow, nextStopOf } from "./stop-order.ts";
import { windowOf, windowText } from "./windows.ts";

const ORDERS = { window: byWindow, nearest: byNearest };

type OrderName = keyof typeof ORDERS;

/** Assigns a courier to shipments. Proposes an order of the stops, which follow the courier's other stops. */
export function AssignDialog(props: Omit<ActDialogProps, "act"> & { readonly children?: ComponentChildren }) {
  const { shipments, others = 0, close, children } = props;
  const [courier, setCourier] = useState("");
  const [order, setOrder] = useState<OrderName>("window");
  const ordered = useMemo(() => ORDERS[order](shipments), [order, shipments]);
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
            etag: shipment.etag,
          })),
        },
        { headers },
      ),
  };
  const parts = useMemo(() => partsOf(ordered), [ordered, courier]);
  const { run, done } = useRun({ ...props, act }, parts);
  return (
    <Dialog
      title={`Assign courier: ${countText(shipments.length)}`}
      submit="Assign courier"
      close={close}
      run={async (form) => {
        if (courier === "") throw fieldError("courier", "Choose a courier.");
        last.current = lastSequence(await loadRun(couriers, courier), shipments);
        return run(form);
      }}
    >
      {others > 0 && <p>{others} of the selected shipments will not change.</p>}
      <CourierField courier={courier} choose={setCourier} />
      {children}
      {shipments.length > 1 && (
        <SelectField
          name="order"
          label="Order of stops"
          value={order}
          onInput={(name) => setOrder(name as OrderName)}
          hint={order === "nearest" ? "A proposal from straight-line distances. It ignores windows and traffic." : ""}
          choices={[
            ["window", "By time window"],
            ["nearest", "Nearest first (proposal)"],
          ]}
        />
      )}
      <ShipmentLines isOrdered lines={ordered.map((shipment) => [shipment, stopText(shipment)])} />
      {done !== undefined && <Progress label="Done:" done={done} />}
    </Dialog>
  );
}

function CourierField({ courier, choose }: { readonly courier: string; readonly choose: (id: string) => void }) {
  return (
    <QueryView query={useCouriers()}>
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
            onInput={choose}
            choices={[["", "Choose a courier"], ...data.map(({ id, name }) => [id, name] as const)]}
          />
        )
      }
    </QueryView>
  );
}

/** Returns the last sequence among a courier's stops other than the assigned ones, 0 without stops. */
function lastSequence(run: readonly Shipment[], assigned: readonly Shipment[]): number {
  const references = new Set(referencesOf(assigned));
  const others = run.filter(({ reference }) => !references.has(reference));
  return Math.max(0, ...others.map(({ courier }) => courier?.sequence ?? 0));
}

function stopText(shipment: Shipment): string {
  const { window, address } = nextStopOf(shipment);
  return `${window ? windowText(windowOf(window), window.timeZone) : "As soon as possible"} · ${address}`;
}
