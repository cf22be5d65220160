import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { AttentionSubject } from "../../../gen/shipments/v1/workspace_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { useRole } from "../api/session.ts";
import { paths } from "../routes/paths.ts";
import { ACTS, ASSIGN } from "../shipments/acts.ts";
import { ActButtons, useActs } from "../shipments/selection.tsx";
import type { Step } from "../shipments/step.ts";
import { Button } from "../ui/button.tsx";
import { lazily } from "../ui/lazily.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Money, Time } from "../ui/values.tsx";

/** Presentation of the shipments of a kind. */
export interface ShipmentsOfKind {
  /** Heading of the subjects' times. */
  readonly time: string;
  /** The action that resolves the problem. */
  readonly step?: (shipment: Shipment) => Step | undefined;
  /** Names of actions for selected shipments. */
  readonly bulk?: readonly string[];
}

interface Row extends AttentionSubject {
  readonly shipment: Shipment;
}

const StepDialog = lazily(() => import("../shipments/shipment-dialogs.tsx"), "StepDialog");

const BULK = [ASSIGN, ...ACTS];

/** Selected shipments by group, and actions for them. All groups share the actions. */
export function useAttentionActs() {
  const [chosen, setChosen] = useState(NONE);
  const acts = useActs(() => setChosen(NONE));
  return { acts, chosen, setChosen };
}

const NONE: ReadonlyMap<string, ReadonlySet<string>> = new Map();

/** A kind's shipments with the action that resolves each one, and actions for the selected ones. */
export function AttentionShipments(
  props: ReturnType<typeof useAttentionActs> & {
    readonly label: string;
    readonly of: ShipmentsOfKind;
    readonly subjects: readonly AttentionSubject[];
  },
) {
  const { label, of, subjects, acts, chosen, setChosen } = props;
  const mayChange = useRole("member");
  const [open, setOpen] = useState<{ readonly step: Step; readonly shipment: Shipment }>();
  const rows = subjects.filter((subject): subject is Row => subject.shipment !== undefined);
  const own = chosen.get(label) ?? new Set();
  const selected = rows.filter(({ id }) => own.has(id)).map(({ shipment }) => shipment);
  const act: Column<Row> = {
    header: "Action",
    align: "end",
    selfEvident: true,
    cell: ({ shipment }) => {
      const step = of.step?.(shipment);
      return step && <Button onClick={() => setOpen({ step, shipment })}>{step}</Button>;
    },
  };
  return (
    <>
      <Table
        label={label}
        isList
        columns={[...columnsOf(of), ...(mayChange && of.step ? [act] : [])]}
        rows={rows}
        href={({ id }) => paths.shipment({ reference: id })}
        selection={
          mayChange && of.bulk
            ? {
                has: ({ id }) => own.has(id),
                nameOf: ({ id }) => id,
                change: (changed, isSelected) => {
                  const ids = new Set(changed.map(({ id }) => id));
                  setChosen(new Map([...chosen, [label, isSelected ? own.union(ids) : own.difference(ids)]]));
                },
              }
            : undefined
        }
      />
      {selected.length > 0 && (
        <div class="actions" role="region" aria-label={`Selection: ${label}`}>
          <ActButtons {...{ acts, selected }} of={BULK.filter(({ name }) => of.bulk?.includes(name))} primary />
        </div>
      )}
      {open && <StepDialog {...open} from={open.shipment} close={() => setOpen(undefined)} />}
    </>
  );
}

function columnsOf({ time }: ShipmentsOfKind): readonly Column<Row>[] {
  return [
    {
      header: "Shipment, customer",
      leads: true,
      selfEvident: true,
      cell: ({ id, shipment: { customer } }) => (
        <>
          <code>{id}</code>
          <Line minor>{customer?.name}</Line>
        </>
      ),
    },
    {
      header: time,
      cell: ({ at, reason, shipment: { attempts } }) => {
        const failed = attempts.length > 0 && `${attempts.length} failed`;
        return (
          <>
            <Time at={at} />
            <Line minor>{[failed, reason?.replaceAll("_", " ")].filter(Boolean).join(" · ")}</Line>
          </>
        );
      },
    },
    {
      header: "Recipient",
      clips: "wide",
      selfEvident: true,
      cell: ({ shipment: { customer, recipientName = customer?.name, recipientPhone } }) => (
        <Contact name={recipientName} phone={recipientPhone} />
      ),
    },
    {
      header: "Courier",
      spare: true,
      cell: ({ shipment: { courier } }) => <Contact name={courier?.name} phone={courier?.phone} />,
    },
    {
      header: "Total",
      align: "end",
      selfEvident: true,
      cell: ({ shipment: { total, currency } }) => <Money amount={total} currency={currency} />,
    },
  ];
}

function Contact({ name, phone }: { readonly name: string | undefined; readonly phone: string | undefined }) {
  return (
    <>
      <Line>{name ?? "—"}</Line>
      <Line minor>{phone && <a href={`tel:${phone}`}>{phone}</a>}</Line>
    </>
  );
}

function Line(props: { readonly minor?: boolean; readonly children: ComponentChildren }) {
  if (!props.children) return null;
  return (
    <span class={props.minor ? "line minor" : "line"} dir="auto">
      {props.children}
    </span>
  );
}
