import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { PaymentConnectionService } from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { useRpc } from "../api/use-query.ts";
import { labelsHref } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { lazily } from "../ui/lazily.tsx";
import { More } from "../ui/menu.tsx";
import { toast } from "../ui/toast.tsx";
import type { ActDialogProps } from "./act-dialog.tsx";
import { type Act, ACTS, ASSIGN } from "./acts.ts";
import { totalText } from "./newest-shipments.ts";
import "./selection.css";

const ActDialog = lazily(() => import("./act-dialog.tsx"), "ActDialog");

const AssignDialog = lazily(() => import("./assign-dialog.tsx"), "AssignDialog");

type AnyAct = Act | typeof ASSIGN;

const ALL: readonly AnyAct[] = [ASSIGN, ...ACTS];

/** Maximum number of actions outside of the menu, so that the bar has at most two lines on phones. */
const MAX_BUTTONS = 2;

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
    const acts = ALL.map((act) => [act.key, (row: Shipment | undefined) => start(act, shipmentsOf(row))] as const);
    return Object.fromEntries([...acts, ["l", print] as const]);
  };
  const close = () => setOpen(undefined);
  const dialog = open && dialogFor(open.act, { ...open, changed, close });
  return { possible, start, keysFor, dialog };
}

function dialogFor(act: AnyAct, props: Omit<ActDialogProps, "act">) {
  return "send" in act ? <ActDialog {...props} act={act} /> : <AssignDialog {...props} />;
}

export function SelectionBar(props: {
  readonly selected: readonly Shipment[];
  readonly clear: () => void;
  readonly acts: ReturnType<typeof useActs>;
}) {
  const { selected, clear, acts } = props;
  const bar = useRef<HTMLDivElement>(null);
  const possible = ALL.map((act) => ({ act, count: acts.possible(act, selected).length })).filter((it) => it.count > 0);
  const usual = possible.filter(({ act }) => !act.isInMenu);
  const likely = new Set(usual.toSorted((one, other) => other.count - one.count).slice(0, MAX_BUTTONS));
  const buttonsOf = (shown: typeof possible) =>
    shown.map(({ act, count }) => (
      <Button key={act.name} destructive={act.isDangerous} onClick={() => acts.start(act, selected)}>
        {act.name} ({count})
      </Button>
    ));
  const isUsed = selected.length > 0 || acts.dialog !== undefined;
  useLayoutEffect(() => (isUsed ? () => leaveTo(bar.current!) : undefined), [isUsed]);
  return (
    <>
      <div ref={bar} class="selection" role="region" aria-label="Selection" hidden={selected.length === 0}>
        <p role="status">
          {selected.length > 0 && (
            <>
              <strong>{selected.length} selected</strong> <span class="minor">{totalText(selected)}</span>
            </>
          )}
        </p>
        <Button quiet onClick={clear}>
          Clear
        </Button>
        <div class="actions">
          {buttonsOf(usual.filter((it) => likely.has(it)))}
          {selected.length > 0 && (
            <More>
              {buttonsOf(usual.filter((it) => !likely.has(it)))}
              <LinkButton href={labelsHref(selected)}>Print labels</LinkButton>
              {buttonsOf(possible.filter(({ act }) => act.isInMenu))}
            </More>
          )}
        </div>
      </div>
      {acts.dialog}
    </>
  );
}

/** Moves the focus from a hidden bar to its list, so that the list's shortcuts keep working. */
function leaveTo(bar: HTMLElement): void {
  const isLost = document.activeElement === document.body || bar.contains(document.activeElement);
  if (isLost) bar.parentElement?.querySelector("table")?.focus({ preventScroll: true });
}
