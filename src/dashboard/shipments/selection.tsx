import { useLayoutEffect, useState } from "preact/hooks";
import { PaymentConnectionService } from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { useRpc } from "../api/use-query.ts";
import { labelsHref } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { lazily } from "../ui/lazily.tsx";
import { toast } from "../ui/toast.tsx";
import type { ActDialogProps } from "./act-dialog.tsx";
import { ACTS, type AnyAct } from "./acts.ts";
import type { SelectionBarProps } from "./selection-bar.tsx";
import "./selection.css";

const ActDialog = lazily(() => import("./act-dialog.tsx"), "ActDialog");

const LazySelectionBar = lazily(() => import("./selection-bar.tsx"), "SelectionBar", <div class="selection" />);

const AssignDialog = lazily(() => import("./assign-dialog.tsx"), "AssignDialog");

/** Provides actions for shipments, by buttons and keys, with a confirmation dialog. */
export function useActs(changed: (references: readonly string[]) => void) {
  const connected = useRpc(PaymentConnectionService.method.getPaymentConnection, {});
  // Actions are disabled until the payment method is known.
  const isKnown = connected.data !== undefined || connected.problem !== undefined;
  // The selection at the time the dialog opened. Changes by others since then can lead to refusals.
  const [open, setOpen] = useState<Pick<ActDialogProps, "shipments" | "others"> & { readonly act: AnyAct }>();
  const possible = (act: AnyAct, all: readonly Shipment[]) =>
    isKnown ? all.filter((shipment) => act.isFor(shipment, connected.data?.data)) : [];
  const start = (act: AnyAct, all: readonly Shipment[]) => {
    const shipments = possible(act, all);
    if (shipments.length > 0) setOpen({ act, shipments, others: all.length - shipments.length });
    else if (all.length > 0) toast(`The selected shipments cannot be ${act.participle}.`);
  };
  /** Returns shortcuts that act on the focused row's shipments. */
  const keysFor = (shipmentsOf: (row: Shipment | undefined) => readonly Shipment[]) => {
    const print = (row: Shipment | undefined) => {
      const shipments = shipmentsOf(row);
      if (shipments.length > 0) navigate(labelsHref(shipments));
    };
    const acts = ACTS.map((act) => [act.key, (row: Shipment | undefined) => start(act, shipmentsOf(row))] as const);
    return Object.fromEntries([...acts, ["l", print] as const]);
  };
  const close = () => setOpen(undefined);
  const dialog = open && dialogFor(open.act, { ...open, changed, close });
  return { possible, start, keysFor, dialog };
}

function dialogFor(act: AnyAct, props: Omit<ActDialogProps, "act">) {
  return "send" in act ? <ActDialog {...props} act={act} /> : <AssignDialog {...props} />;
}

/** Shows the selection and its actions, and the dialog of a started action. */
export function Selection(props: Omit<SelectionBarProps, "acts"> & { readonly acts: ReturnType<typeof useActs> }) {
  const { selected, acts } = props;
  const isUsed = selected.length > 0 || acts.dialog !== undefined;
  useLayoutEffect(() => (isUsed ? focusList : undefined), [isUsed]);
  return (
    <>
      {selected.length > 0 && <LazySelectionBar {...props} />}
      {acts.dialog}
    </>
  );
}

/** Moves a lost focus to the list, so that its shortcuts keep working. */
function focusList(): void {
  if (document.activeElement === document.body) {
    document.querySelector<HTMLElement>("main table")?.focus({ preventScroll: true });
  }
}
