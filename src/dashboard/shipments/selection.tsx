import { useLayoutEffect, useState } from "preact/hooks";
import { PaymentConnectionService } from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { useRpc } from "../api/use-query.ts";
import { labelsHref } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { lazily } from "../ui/lazily.tsx";
import { ACTS, type AnyAct } from "./acts.ts";
import type { SelectionBarProps } from "./selection-bar.tsx";
import type { StartedActProps } from "./started-act.tsx";
import "./selection.css";

const LazySelectionBar = lazily(() => import("./selection-bar.tsx"), "SelectionBar", <div class="selection" />);

const StartedAct = lazily(() => import("./started-act.tsx"), "StartedAct");

/** Provides actions for shipments, by buttons and keys, with a confirmation dialog. */
export function useActs(changed: (references: readonly string[]) => void) {
  const connected = useRpc(PaymentConnectionService.method.getPaymentConnection, {});
  const [started, setStarted] = useState<Pick<StartedActProps, "act" | "selected">>();
  const start = (act: AnyAct, selected: readonly Shipment[]) => selected.length > 0 && setStarted({ act, selected });
  /** Returns shortcuts that act on the focused row's shipments. */
  const keysFor = (shipmentsOf: (row: Shipment | undefined) => readonly Shipment[]) => {
    const print = (row: Shipment | undefined) => {
      const shipments = shipmentsOf(row);
      if (shipments.length > 0) navigate(labelsHref(shipments));
    };
    const acts = ACTS.map((act) => [act.key, (row: Shipment | undefined) => start(act, shipmentsOf(row))] as const);
    return Object.fromEntries([...acts, ["l", print] as const]);
  };
  const close = () => setStarted(undefined);
  // Without the key, the next action would keep the shipments of this one if its dialog has not loaded yet.
  const dialog = started && <StartedAct key={started} {...started} {...{ connected, changed, close }} />;
  return { connected, start, keysFor, dialog };
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
