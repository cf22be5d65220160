import { useLayoutEffect, useState } from "preact/hooks";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { lazily } from "../ui/lazily.tsx";
import { toast } from "../ui/toast.tsx";
import { ActDialog, type ActDialogProps } from "./act-dialog.tsx";
import { type AnyAct, type ConnectionQuery, shipmentsFor } from "./acts.ts";

const AssignDialog = lazily(() => import("./assign-dialog.tsx"), "AssignDialog");

export interface StartedActProps {
  readonly act: AnyAct;
  readonly selected: readonly Shipment[];
  readonly connected: ConnectionQuery;
  readonly changed: ActDialogProps["changed"];
  readonly close: () => void;
}

/** The dialog of an action, for the selected shipments that it is possible for. Waits for the payment connection. */
export function StartedAct(props: StartedActProps) {
  const { act, selected, connected, changed, close } = props;
  // The selection when the dialog opened. Changes by others since then can lead to refusals.
  const [shipments, setShipments] = useState<readonly Shipment[]>();
  const found = shipments ?? shipmentsFor(act, selected, connected);
  useLayoutEffect(() => {
    setShipments(found);
    if (found?.length !== 0) return;
    toast(`The selected shipments cannot be ${act.participle}.`);
    close();
  }, [found === undefined]);
  if (!found?.length) return null;
  const dialog = { shipments: found, others: selected.length - found.length, changed, close };
  return "send" in act ? <ActDialog {...dialog} act={act} /> : <AssignDialog {...dialog} />;
}
