import type { Client } from "@connectrpc/connect";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { problemOf } from "../api/problem.ts";
import { randomKey } from "../api/use-action.ts";
import { Dialog } from "../ui/dialog.tsx";
import { choicesOf, SelectField, TextAreaField } from "../ui/fields.tsx";
import { Progress } from "../ui/page.tsx";
import { sumText } from "../ui/format.ts";
import { toast } from "../ui/toast.tsx";
import { type Act, referencesOf } from "./acts.ts";
import { countText, inParts } from "./newest-shipments.ts";
import { CANCEL_REASONS } from "./shipment-badge.tsx";

/** Maximum number of shipments per call, small enough to show progress. */
const PART = 25;

/** Shipments changed by one call. A retry uses the same idempotency key. */
interface Part {
  readonly shipments: readonly Shipment[];
  readonly key: string;
}

interface Failure {
  readonly shipment: Shipment;
  readonly reason: string;
  /** The call whose response was lost. `undefined` if the change was refused. */
  readonly lost?: Part;
}

export function partsOf(shipments: readonly Shipment[]): Part[] {
  return inParts(shipments, PART).map((part) => ({ shipments: part, key: randomKey() }));
}

export interface RunProps {
  readonly act: Omit<Act, "key" | "isFor">;
  readonly shipments: readonly Shipment[];
  readonly changed?: (references: readonly string[]) => void;
}

export interface ActDialogProps extends RunProps {
  /** Number of selected shipments that the action does not apply to. Defaults to 0. */
  readonly others?: number;
  /** Whether the dialog lists the shipments, because the page behind it does not. */
  readonly isListed?: boolean;
  readonly close?: () => void;
}

export function ActDialog(props: ActDialogProps) {
  const { act, shipments, others = 0, isListed, close } = props;
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
        {others > 0 && ` ${others} of the selected shipments will not change.`}
      </p>
      {isListed && (
        <ShipmentLines
          lines={shipments.map((shipment) => [shipment, `${shipment.customer?.name ?? ""} · ${sumText([shipment])}`])}
        />
      )}
      {act.isDangerous && (
        <>
          <SelectField name="reason" label="Reason for all" optional choices={choicesOf(CANCEL_REASONS)} />
          <TextAreaField name="note" label="Note" optional />
        </>
      )}
      {done !== undefined && <Progress label="Done:" done={done} />}
    </Dialog>
  );
}

export function ShipmentLines(props: {
  readonly lines: readonly (readonly [shipment: Shipment, text: string])[];
  readonly isOrdered?: boolean;
}) {
  const List = props.isOrdered ? "ol" : "ul";
  return (
    <List class="failures" tabIndex={0} aria-label="Shipments">
      {props.lines.map(([{ reference }, text]) => (
        <li key={reference}>
          <code>{reference}</code> <span>{text}</span>
        </li>
      ))}
    </List>
  );
}

function FailedDialog(props: RunProps & { readonly failures: readonly Failure[]; readonly form: FormData }) {
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
      <ShipmentLines lines={failures.map(({ shipment, reason }) => [shipment, reason])} />
      {done !== undefined && <Progress label="Done:" done={done} />}
    </Dialog>
  );
}

/** Sends the batches one after another and reports the results. Stops when the dialog is closed. */
export function useRun({ act, changed }: RunProps, parts: readonly Part[]) {
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
      changed?.(referencesOf(part.shipments).filter((reference) => !names.has(reference)));
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

async function sendPart(act: RunProps["act"], client: Client<typeof ShipmentService>, part: Part, form: FormData) {
  try {
    const headers = { "idempotency-key": part.key };
    const { results } = await act.send(client, part.shipments, form, headers);
    return results.flatMap(({ error }, i) => (error ? [{ shipment: part.shipments[i]!, reason: error.message }] : []));
  } catch (error) {
    const reason = problemOf(error).message;
    return part.shipments.map((shipment) => ({ shipment, reason, lost: part }));
  }
}

function isOrAre(count: number): string {
  return count === 1 ? "is" : "are";
}
