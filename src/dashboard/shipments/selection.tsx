import type { Client } from "@connectrpc/connect";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import {
  type CancelReason,
  type Shipment,
  ShipmentStatus,
} from "../../../gen/shipments/v1/shipment_pb.js";
import {
  PaymentConnectionService,
  type PaymentConnection,
} from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import type { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useRpc } from "../api/use-query.ts";
import { labelsHref } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { Button } from "../ui/button.tsx";
import { numberOf, optionalTextOf } from "../ui/form-data.ts";
import { lazily } from "../ui/lazily.tsx";
import { toast } from "../ui/toast.tsx";
import type { ActDialogProps } from "./act-dialog.tsx";
import { isPaidOnline } from "./shipment-badge.tsx";
import { totalText } from "./newest-shipments.ts";
import "./selection.css";

export interface Act {
  readonly name: string;
  readonly key: string;
  /** As in "12 shipments are paid". */
  readonly participle: string;
  readonly isFor: (shipment: Shipment, connection: PaymentConnection | undefined) => boolean;
  readonly note: (shipments: readonly Shipment[]) => string;
  readonly isDangerous?: boolean;
  readonly send: (
    client: Client<typeof ShipmentService>,
    shipments: readonly Shipment[],
    form: FormData,
    headers: Readonly<Record<"idempotency-key", string>>,
  ) => Promise<{
    /** One result per shipment, in the same order. */
    readonly results: readonly { readonly error?: { readonly message: string } | undefined }[];
  }>;
}

const ACTS: readonly Act[] = [
  {
    name: "Cancel",
    key: "c",
    participle: "cancelled",
    isDangerous: true,
    isFor: ({ status }) =>
      status === ShipmentStatus.PENDING || status === ShipmentStatus.AWAITING_PICKUP,
    note(shipments) {
      const paid = shipments.filter(({ status }) => status !== ShipmentStatus.PENDING);
      const stays = "This cannot be undone.";
      return paid.length === 0 ? stays : `${stays} ${totalText(paid)} will be refunded.`;
    },
    send: (client, shipments, form, headers) =>
      client.batchCancelShipments(
        {
          shipments: referencesOf(shipments),
          reason: numberOf(form, "reason") as CancelReason | undefined,
          note: optionalTextOf(form, "note"),
        },
        { headers },
      ),
  },
  {
    name: "Record payments",
    key: "m",
    participle: "paid",
    isFor: (shipment, connection) =>
      shipment.status === ShipmentStatus.PENDING && !isPaidOnline({ shipment, connection }),
    note: (shipments) =>
      `Each is recorded as paid in full, ${totalText(shipments)} in all. Recorded payments cannot be removed.`,
    send: (client, shipments, _, headers) =>
      client.batchRecordPayments(
        {
          payments: shipments.map(({ reference, total, currency }) => ({
            shipment: reference,
            amount: total,
            currency,
          })),
        },
        { headers },
      ),
  },
  advance(
    "u",
    "Mark as picked up",
    "picked up",
    ShipmentStatus.AWAITING_PICKUP,
    "The courier has them. They can no longer be cancelled.",
  ),
  advance(
    "d",
    "Mark as delivered",
    "delivered",
    ShipmentStatus.IN_TRANSIT,
    "They have arrived and can no longer be changed.",
  ),
];

function advance(
  key: string,
  name: string,
  participle: string,
  from: ShipmentStatus,
  note: string,
): Act {
  return {
    key,
    name,
    participle,
    isFor: ({ status }) => status === from,
    note: () => note,
    send: (client, shipments, _, headers) =>
      client.batchAdvanceShipments({ shipments: referencesOf(shipments), from }, { headers }),
  };
}

export function referencesOf(shipments: readonly Shipment[]): string[] {
  return shipments.map(({ reference }) => reference);
}

const ActDialog = lazily(() => import("./act-dialog.tsx").then((it) => it.ActDialog));

/** Actions for shipments by buttons and keys, with a confirmation dialog. */
export function useActs(changed: (references: readonly string[]) => void) {
  const connected = useRpc(PaymentConnectionService.method.getPaymentConnection, {});
  // Disabled until the payment method is known.
  const isKnown = connected.data !== undefined || connected.problem !== undefined;
  // The selection when the dialog opened. Later changes by others can lead to refusals.
  const [open, setOpen] = useState<Pick<ActDialogProps, "act" | "shipments" | "others">>();
  const possible = (act: Act, all: readonly Shipment[]) =>
    isKnown ? all.filter((shipment) => act.isFor(shipment, connected.data?.data)) : [];
  const start = (act: Act, all: readonly Shipment[]) => {
    const shipments = possible(act, all);
    if (shipments.length > 0) setOpen({ act, shipments, others: all.length - shipments.length });
    else if (all.length > 0) toast(`The selected shipments cannot be ${act.participle}.`);
  };
  /** Returns shortcuts that act on the shipments of the row with the focus. */
  const keysFor = (shipmentsOf: (row: Shipment | undefined) => readonly Shipment[]) => {
    const print = (row: Shipment | undefined) => {
      const shipments = shipmentsOf(row);
      if (shipments.length > 0) navigate(labelsHref(shipments));
    };
    const acts = ACTS.map(
      (act) => [act.key, (row: Shipment | undefined) => start(act, shipmentsOf(row))] as const,
    );
    return Object.fromEntries([...acts, ["l", print] as const]);
  };
  const dialog = open && <ActDialog {...open} changed={changed} close={() => setOpen(undefined)} />;
  return { possible, start, keysFor, dialog };
}

export function SelectionBar(props: {
  readonly selected: readonly Shipment[];
  readonly clear: () => void;
  readonly acts: ReturnType<typeof useActs>;
}) {
  const { selected, clear, acts } = props;
  const bar = useRef<HTMLDivElement>(null);
  const isUsed = selected.length > 0 || acts.dialog !== undefined;
  useLayoutEffect(() => (isUsed ? () => leaveTo(bar.current!) : undefined), [isUsed]);
  return (
    <>
      <div
        ref={bar}
        class="selection"
        role="region"
        aria-label="Selection"
        hidden={selected.length === 0}
      >
        <p role="status">
          {selected.length > 0 && (
            <>
              <strong>{selected.length} selected</strong>{" "}
              <span class="minor">{totalText(selected)}</span>
            </>
          )}
        </p>
        <div class="actions">
          <Button quiet onClick={clear}>
            Clear
          </Button>
          <a class="button" href={labelsHref(selected)}>
            Print labels
          </a>
          {ACTS.map((act) => {
            const { length } = acts.possible(act, selected);
            return (
              length > 0 && (
                <Button key={act.name} onClick={() => acts.start(act, selected)}>
                  {act.name} ({length})
                </Button>
              )
            );
          })}
        </div>
      </div>
      {acts.dialog}
    </>
  );
}

/** Moves the focus from a hidden bar to its list, so that the list's keys keep working. */
function leaveTo(bar: HTMLElement): void {
  const isLost = document.activeElement === document.body || bar.contains(document.activeElement);
  if (isLost) bar.parentElement?.querySelector("table")?.focus({ preventScroll: true });
}
