import { useState } from "preact/hooks";
import type { Attention, AttentionSubject } from "../../../gen/shipments/v1/workspace_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { useRole } from "../api/session.ts";
import { paths } from "../routes/paths.ts";
import { Selection, useActs } from "../shipments/selection.tsx";
import { labelOf, type Step } from "../shipments/step.ts";
import { Button } from "../ui/button.tsx";
import { lazily } from "../ui/lazily.tsx";
import { type Column, Line, rowActions, Table, type TableProps } from "../ui/table.tsx";
import { Money, Phone, Time } from "../ui/values.tsx";
import { TimeNote } from "./attention-list.tsx";
import { Late, useDelayOf } from "../shipments/lateness.tsx";

/** Heading of a column of deadlines. Its cells show the delay after the deadline. */
export const DUE = "Due";

/** Presentation of the shipments of a kind. */
export interface ShipmentsOfKind {
  /** Heading of the column with the times of the shipments. */
  readonly time?: string;
  /** Whether the shipments are cancelled, and therefore have no actions in common. */
  readonly areCancelled?: boolean;
  /** The action that resolves the problem. */
  readonly step?: (shipment: Shipment, hasCouriers: boolean) => Step;
}

interface Row extends AttentionSubject {
  readonly shipment: Shipment;
}

const hasShipment = (subject: AttentionSubject): subject is Row => subject.shipment !== undefined;

const StepDialog = lazily(() => import("../shipments/shipment-dialogs.tsx"), "StepDialog");

const NONE: ReadonlySet<string> = new Set();

/** Returns the selection of shipments, which all groups share, and the bar with its actions. */
export function useAttentionSelection(kinds: readonly Attention[]) {
  const [chosen, setChosen] = useState(NONE);
  const clear = () => setChosen(NONE);
  const acts = useActs((references) => setChosen((before) => before.difference(new Set(references))));
  const rows = kinds.flatMap(({ subjects }) => subjects.filter(hasShipment)).filter(({ id }) => chosen.has(id));
  // A shipment can be in several groups.
  const selected = [...new Map(rows.map(({ id, shipment }) => [id, shipment])).values()];
  const selection: TableProps<Row>["selection"] = {
    has: ({ id }) => chosen.has(id),
    nameOf: ({ id }) => id,
    change(changed, isSelected) {
      const ids = new Set(changed.map(({ id }) => id));
      setChosen(isSelected ? chosen.union(ids) : chosen.difference(ids));
    },
  };
  return { selection, bar: <Selection {...{ selected, clear, acts }} /> };
}

/** A kind's shipments with the action that resolves each one. */
export function AttentionShipments(props: {
  readonly label: string;
  readonly of: ShipmentsOfKind;
  readonly subjects: readonly AttentionSubject[];
  readonly selection: TableProps<Row>["selection"];
  /** Whether the workspace has couriers. */
  readonly hasCouriers: boolean;
}) {
  const { label, of, selection, hasCouriers } = props;
  const rows = props.subjects.filter(hasShipment);
  const mayChange = useRole("member");
  const [open, setOpen] = useState<{ readonly step: Step; readonly shipment: Shipment }>();
  const act = rowActions<Row>(({ shipment }) => {
    const step = of.step!(shipment, hasCouriers);
    return <Button onClick={() => setOpen({ step, shipment })}>{labelOf(step, shipment)}</Button>;
  });
  return (
    <>
      <Table
        label={label}
        isList
        columns={[...columnsOf(of, rows), ...(mayChange && of.step ? [act] : [])]}
        rows={rows}
        href={({ id }) => paths.shipment({ reference: id })}
        selection={mayChange && !of.areCancelled ? selection : undefined}
      />
      {open && <StepDialog {...open} from={open.shipment} close={() => setOpen(undefined)} />}
    </>
  );
}

function columnsOf({ time }: ShipmentsOfKind, rows: readonly Row[]): readonly Column<Row>[] {
  const courier: Column<Row> = {
    header: "Courier",
    cell: ({ shipment }) => <Contact name={shipment.courier?.name} phone={shipment.courier?.phone} />,
  };
  const cause: Column<Row> = {
    header: time ?? "Reason",
    selfEvident: time === DUE,
    cell: ({ at, reason, shipment }) => {
      const { attempts } = shipment;
      const failed = attempts.length > 0 && `${attempts.length} failed`;
      return (
        <>
          {time === DUE ? <Due {...{ at, shipment }} /> : time && <Time at={at} />}
          <Line isMinor text={[failed, reason?.replaceAll("_", " ")].filter(Boolean).join(" · ")} />
        </>
      );
    },
  };
  return [
    {
      header: "Shipment, customer",
      leads: true,
      selfEvident: true,
      cell: ({ id, shipment: { customer, recipientName } }) => (
        <>
          <code>{id}</code>
          <Line isMinor text={recipientName && customer?.name} />
        </>
      ),
    },
    ...(time || rows.some(({ reason }) => reason) ? [cause] : []),
    {
      header: "Recipient",
      clips: "wide",
      selfEvident: true,
      cell: ({ shipment: { customer, recipientName = customer?.name, recipientPhone } }) => (
        <Contact name={recipientName} phone={recipientPhone} />
      ),
    },
    ...(rows.some(({ shipment }) => shipment.courier) ? [courier] : []),
    {
      header: "Total",
      align: "end",
      spare: time === DUE,
      selfEvident: true,
      cell: ({ shipment: { total, currency } }) => <Money amount={total} currency={currency} />,
    },
  ];
}

/** Shows how late a shipment is or will be, or its deadline if it is not late yet. */
function Due({ at, shipment }: Pick<Row, "at" | "shipment">) {
  const delay = useDelayOf()(shipment);
  return delay ? <Late delay={delay} /> : <TimeNote what="Due" at={at} />;
}

function Contact({ name, phone }: { readonly name: string | undefined; readonly phone: string | undefined }) {
  return (
    <>
      <Line text={name ?? "—"} />
      <Line isMinor text={phone}>
        <Phone number={phone} />
      </Line>
    </>
  );
}
