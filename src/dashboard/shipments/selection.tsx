import type { Client } from "@connectrpc/connect";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { BatchResult } from "../../../gen/shipments/v1/batch_pb.js";
import {
  type CancelReason,
  type Shipment,
  ShipmentStatus,
} from "../../../gen/shipments/v1/shipment_pb.js";
import {
  PaymentConnectionService,
  type PaymentConnection,
} from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { problemOf } from "../api/problem.ts";
import { randomKey } from "../api/use-action.ts";
import { useRpc } from "../api/use-query.ts";
import { labelsHref } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField, TextAreaField } from "../ui/fields.tsx";
import { numberOf, optionalTextOf } from "../ui/form-data.ts";
import { Progress } from "../ui/query-view.tsx";
import { toast } from "../ui/toast.tsx";
import { isPaidOnline, REASONS } from "./shipment-badge.tsx";
import { countText, totalText } from "./newest-shipments.ts";
import "./selection.css";

/** How many shipments one call changes: few enough that progress is seen. */
const PART = 25;

interface Act {
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
    headers: HeadersInit,
  ) => Promise<{ readonly results: readonly BatchResult[] }>;
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
      const stays = "What is cancelled stays cancelled.";
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
      `Each is recorded as paid in full, ${totalText(shipments)} in all. A payment that is recorded stays recorded.`,
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
    "The courier has them. They cannot be cancelled any more.",
  ),
  advance(
    "d",
    "Mark as delivered",
    "delivered",
    ShipmentStatus.IN_TRANSIT,
    "They have arrived. Nothing about them changes any more.",
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

function referencesOf(shipments: readonly Shipment[]): string[] {
  return shipments.map(({ reference }) => reference);
}

/** What can be done with shipments, by buttons and keys, and the dialog that asks first. */
export function useActs(changed: (references: readonly string[]) => void) {
  const connected = useRpc(PaymentConnectionService.method.getPaymentConnection, {});
  // None can be recorded until it is known how payments are made.
  const isKnown = connected.data !== undefined || connected.problem !== undefined;
  // What was selected when the dialog opened; what others do meanwhile is refused for those it concerns.
  const [open, setOpen] = useState<Pick<ActDialogProps, "act" | "shipments" | "others">>();
  const possible = (act: Act, all: readonly Shipment[]) =>
    isKnown ? all.filter((shipment) => act.isFor(shipment, connected.data?.data)) : [];
  const start = (act: Act, all: readonly Shipment[]) => {
    const shipments = possible(act, all);
    if (shipments.length > 0) setOpen({ act, shipments, others: all.length - shipments.length });
    else if (all.length > 0) toast(`What is selected cannot be ${act.participle}.`);
  };
  /** What keys do, with what the row at which they are pressed stands for. */
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

/** Gives the focus of a bar that is hidden to its list, whose keys go on. */
function leaveTo(bar: HTMLElement): void {
  const isLost = document.activeElement === document.body || bar.contains(document.activeElement);
  if (isLost) bar.parentElement?.querySelector("table")?.focus({ preventScroll: true });
}

/** Shipments that one call changes, under one idempotency key as often as it is sent. */
interface Part {
  readonly shipments: readonly Shipment[];
  readonly key: string;
}

interface Failure {
  readonly shipment: Shipment;
  readonly reason: string;
  /** The call whose answer was lost; undefined when the shipment was refused. */
  readonly lost?: Part;
}

function partsOf(shipments: readonly Shipment[]): Part[] {
  const count = Math.ceil(shipments.length / PART);
  return Array.from({ length: count }, (_, i) => ({
    shipments: shipments.slice(i * PART, (i + 1) * PART),
    key: randomKey(),
  }));
}

interface RunProps {
  readonly act: Act;
  readonly shipments: readonly Shipment[];
  readonly changed: (references: readonly string[]) => void;
}

interface ActDialogProps extends RunProps {
  /** How many are selected of which it cannot be done. */
  readonly others: number;
  readonly close: () => void;
}

function ActDialog(props: ActDialogProps) {
  const { act, shipments, others, close } = props;
  const [parts] = useState(() => partsOf(shipments));
  const { run, done } = useRun(props, parts);
  return (
    <Dialog
      title={`${act.name}: ${countText(shipments.length)}`}
      submit={act.name}
      dismiss={act.isDangerous ? "Keep them" : "Back"}
      tone={act.isDangerous ? "danger" : "primary"}
      close={close}
      run={run}
    >
      <p>
        {act.note(shipments)}
        {others > 0 && ` The other ${others} selected are left as they are.`}
      </p>
      {act.isDangerous && (
        <>
          <SelectField name="reason" label="Reason for all" optional choices={REASONS} />
          <TextAreaField name="note" label="Note" optional />
        </>
      )}
      {done !== undefined && <Progress label="Done:" done={done} />}
    </Dialog>
  );
}

function FailedDialog(
  props: RunProps & { readonly failures: readonly Failure[]; readonly form: FormData },
) {
  const { act, failures, form } = props;
  const [parts] = useState(() => [
    ...new Set(failures.flatMap(({ lost }) => lost ?? [])),
    ...partsOf(failures.filter(({ lost }) => !lost).map(({ shipment }) => shipment)),
  ]);
  const { run, done } = useRun(props, parts);
  return (
    <Dialog
      title={`${countText(failures.length)} ${isOrAre(failures.length)} not ${act.participle}`}
      submit="Try again"
      dismiss="Close"
      run={() => run(form)}
    >
      <ul class="failures">
        {failures.map(({ shipment: { reference }, reason }) => (
          <li key={reference}>
            <code>{reference}</code> <span>{reason}</span>
          </li>
        ))}
      </ul>
      {done !== undefined && <Progress label="Done:" done={done} />}
    </Dialog>
  );
}

/** Sends parts one after the other until the dialog is closed, and says what came of it. */
function useRun({ act, changed }: RunProps, parts: readonly Part[]) {
  const client = useClient(ShipmentService);
  const [done, setDone] = useState<number>();
  const isClosed = useRef(false);
  useLayoutEffect(() => () => void (isClosed.current = true), []);
  const run = async (form: FormData) => {
    const failures: Failure[] = [];
    let count = 0;
    for (const [i, part] of parts.entries()) {
      if (isClosed.current) break;
      setDone(i / parts.length);
      const failed = await sendPart(act, client, part, form);
      const names = new Set(failed.map(({ shipment }) => shipment.reference));
      failures.push(...failed);
      count += part.shipments.length - failed.length;
      changed(referencesOf(part.shipments).filter((reference) => !names.has(reference)));
    }
    if (isClosed.current) {
      const all = parts.reduce((sum, { shipments }) => sum + shipments.length, 0);
      toast(`${count} of ${countText(all)} ${isOrAre(count)} ${act.participle}.`);
      return undefined;
    }
    if (count > 0) toast(`${countText(count)} ${isOrAre(count)} ${act.participle}.`);
    if (failures.length === 0) return undefined;
    const shipments = failures.map(({ shipment }) => shipment);
    return <FailedDialog {...{ act, shipments, changed, failures, form }} />;
  };
  return { run, done };
}

async function sendPart(
  act: Act,
  client: Client<typeof ShipmentService>,
  part: Part,
  form: FormData,
): Promise<Failure[]> {
  try {
    const headers = { "idempotency-key": part.key };
    const { results } = await act.send(client, part.shipments, form, headers);
    return results.flatMap(({ error }, i) =>
      error ? [{ shipment: part.shipments[i]!, reason: error.message }] : [],
    );
  } catch (error) {
    const reason = problemOf(error).message;
    return part.shipments.map((shipment) => ({ shipment, reason, lost: part }));
  }
}

function isOrAre(count: number): string {
  return count === 1 ? "is" : "are";
}
