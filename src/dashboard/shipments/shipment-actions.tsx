import type { ComponentChildren, ComponentType } from "preact";
import { useMemo, useState } from "preact/hooks";
import {
  DisputeStatus,
  PaymentStatus,
  ShipmentStatus,
  type Shipment,
} from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useRole } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Dialog, RpcDialog } from "../ui/dialog.tsx";
import { EditDialog } from "../ui/edit-dialog.tsx";
import { TextField } from "../ui/fields.tsx";
import { textOf } from "../ui/form-data.ts";
import { Money } from "../ui/values.tsx";
import { REASONS, StateBadge } from "./shipment-badge.tsx";
import { routeTextOf, ShipmentForm } from "./shipment-edit.tsx";
import { useWindows, NextWindows, windowChanges, WindowFields } from "./window-fields.tsx";
import { useClient } from "../api/clients.ts";
import type { Problem } from "../api/problem.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { Form } from "../ui/form.tsx";
import { moneyText } from "../ui/format.ts";
import { toast } from "../ui/toast.tsx";
import { bookedWindows, isOfWindows } from "./windows.ts";

interface ShipmentDialogProps {
  readonly shipment: Shipment;
  readonly close: () => void;
}

interface Step {
  readonly name: string;
  readonly dialog: ComponentType<ShipmentDialogProps>;
  readonly primary?: boolean;
  readonly destructive?: boolean;
}

const EDIT: Step = { name: "Edit", dialog: EditShipmentDialog };
const RESCHEDULE: Step = { name: "Reschedule", dialog: RescheduleDialog };
const CANCEL: Step = { name: "Cancel shipment", dialog: CancelDialog, destructive: true };
const PAY: Step = { name: "Record payment", dialog: PaymentDialog, primary: true };
const PICK_UP: Step = { name: "Mark as picked up", dialog: AdvanceDialog, primary: true };
const DELIVER: Step = { name: "Mark as delivered", dialog: AdvanceDialog, primary: true };
const REFUND: Step = { name: "Record refund", dialog: RefundDialog, primary: true };
const PAY_LATE: Step = { name: "Record late payment", dialog: PaymentDialog };

/**
 * What can be done next, the most usual last and what cannot be taken back first.
 *
 * @param hasTimes whether times can be chosen for its route
 * @param isOnline whether payments and refunds are recorded by themselves
 */
function stepsOf(
  { status, paymentStatus }: Shipment,
  { hasTimes, isOnline }: { readonly hasTimes: boolean; readonly isOnline: boolean },
): readonly Step[] {
  const edits = hasTimes ? [EDIT, RESCHEDULE] : [EDIT];
  switch (status) {
    case ShipmentStatus.PENDING:
      return isOnline ? [CANCEL, ...edits] : [CANCEL, ...edits, PAY];
    case ShipmentStatus.AWAITING_PICKUP:
      return [CANCEL, ...edits, PICK_UP];
    case ShipmentStatus.IN_TRANSIT:
      return [EDIT, DELIVER];
    case ShipmentStatus.CANCELLED:
      if (isOnline) return [];
      if (paymentStatus === PaymentStatus.REFUND_PENDING) return [REFUND];
      return paymentStatus === PaymentStatus.VOIDED ? [PAY_LATE] : [];
    default:
      return [];
  }
}

export function ShipmentActions(props: {
  readonly shipment: Shipment;
  /** Whether payments and refunds are recorded by themselves. */
  readonly isOnline: boolean;
  readonly children: ComponentChildren;
}) {
  const { shipment, isOnline, children } = props;
  const [open, setOpen] = useState<{ readonly step: Step; readonly from: Shipment }>();
  const mayChange = useRole("member");
  const hasTimes = useHasTimes(shipment, mayChange);
  if (!mayChange) return <>{children}</>;
  const close = () => setOpen(undefined);
  const isStale =
    open !== undefined &&
    (open.from.status !== shipment.status || open.from.paymentStatus !== shipment.paymentStatus);
  const steps = stepsOf(shipment, { hasTimes, isOnline });
  const buttonOf = (step: Step) => (
    <Button
      key={step.name}
      primary={step.primary ?? false}
      destructive={step.destructive ?? false}
      onClick={() => setOpen({ step, from: shipment })}
    >
      {step.name}
    </Button>
  );
  return (
    <>
      {steps.filter(({ destructive }) => destructive).map(buttonOf)}
      {children}
      {steps.filter(({ destructive }) => !destructive).map(buttonOf)}
      {isStale ? (
        <StaleDialog shipment={shipment} close={close} />
      ) : (
        open && <open.step.dialog shipment={shipment} close={close} />
      )}
    </>
  );
}

function useHasTimes(shipment: Shipment, mayChange: boolean): boolean {
  const { status, pickupWindow, dropoffWindow } = shipment;
  const isBooked = (pickupWindow ?? dropoffWindow) !== undefined;
  const isBefore = status === ShipmentStatus.PENDING || status === ShipmentStatus.AWAITING_PICKUP;
  const isWanted = mayChange && isBefore && !isBooked;
  const route = useMemo(() => routeTextOf(shipment), [shipment.etag]);
  const { offers } = useWindows(route, { isWanted, isShown: false });
  return isBooked || (offers.pickup ?? offers.dropoff) !== undefined;
}

/** Shown when the shipment changed since the dialog opened. */
function StaleDialog({ shipment, close }: ShipmentDialogProps) {
  return (
    <Dialog title="The shipment has moved on" submit="Show the shipment" close={close}>
      <p>
        Its state is <StateBadge {...shipment} /> by now. Look at it before you go on.
      </p>
    </Dialog>
  );
}

function EditShipmentDialog({ shipment, close }: ShipmentDialogProps) {
  return <EditDialog record={shipment} form={ShipmentForm} close={close} />;
}

function PaymentDialog({ shipment, close }: ShipmentDialogProps) {
  const isLate = shipment.status === ShipmentStatus.CANCELLED;
  return (
    <RpcDialog
      method={ShipmentService.method.recordPayment}
      title="Record a payment"
      submit="Record the payment"
      request={(form) => ({
        shipment: shipment.reference,
        currency: textOf(form, "currency").toUpperCase(),
      })}
      done="The payment is recorded."
      close={close}
    >
      <p>
        {isLate
          ? "The shipment is cancelled: a payment that came in all the same is kept, to be refunded."
          : "The shipment then waits for its pickup. A payment that is recorded stays recorded."}
      </p>
      <div class="field-row">
        <TextField name="amount" label="Amount" numeric value={shipment.total} />
        <TextField name="currency" label="Currency" value={shipment.currency} />
      </div>
    </RpcDialog>
  );
}

function AdvanceDialog({ shipment, close }: ShipmentDialogProps) {
  const isPickup = shipment.status === ShipmentStatus.AWAITING_PICKUP;
  return (
    <RpcDialog
      method={ShipmentService.method.advanceShipment}
      title={isPickup ? "Mark as picked up" : "Mark as delivered"}
      submit={isPickup ? "It is picked up" : "It is delivered"}
      request={{ shipment: shipment.reference }}
      done={isPickup ? "The shipment is in transit." : "The shipment is delivered."}
      close={close}
    >
      <p>
        {isPickup
          ? `The courier has it from ${shipment.pickupAddress}. It cannot be cancelled any more.`
          : `It has arrived at ${shipment.dropoffAddress}. Nothing about it changes any more.`}
      </p>
    </RpcDialog>
  );
}

function CancelDialog({ shipment, close }: ShipmentDialogProps) {
  return (
    <RpcDialog
      method={ShipmentService.method.cancelShipment}
      title="Cancel the shipment"
      dismiss="Keep it"
      tone="danger"
      request={{ shipment: shipment.reference }}
      fields={{
        reason: { label: "Reason", optional: true, choices: REASONS },
        note: { label: "Note", isLong: true },
      }}
      done="The shipment is cancelled."
      close={close}
    >
      <p>
        A cancelled shipment stays cancelled.{" "}
        {shipment.paymentDetails?.checkoutUrl !== undefined && "Its pay link ends."}
        {shipment.paymentStatus === PaymentStatus.PAID && (
          <>
            It is paid: <Money amount={shipment.total} currency={shipment.currency} />{" "}
            {refundOf(shipment)}
          </>
        )}
      </p>
    </RpcDialog>
  );
}

function refundOf({ paymentDetails }: Shipment): string {
  if (paymentDetails === undefined) return "will be refunded.";
  return paymentDetails.dispute === DisputeStatus.OPEN
    ? "will go back once the dispute is decided."
    : "will go back to the customer by itself, less what was refunded already.";
}

function RefundDialog({ shipment, close }: ShipmentDialogProps) {
  return (
    <RpcDialog
      method={ShipmentService.method.recordRefund}
      title="Record the refund"
      request={{ shipment: shipment.reference }}
      done="The refund is recorded."
      close={close}
    >
      <p>
        <Money amount={shipment.total} currency={shipment.currency} /> went back to{" "}
        {shipment.customer?.name ?? "the customer"}. A refund that is recorded stays recorded.
      </p>
    </RpcDialog>
  );
}

function RescheduleDialog({ shipment, close }: ShipmentDialogProps) {
  const shipments = useClient(ShipmentService);
  const once = useIdempotencyOptions();
  const route = useMemo(() => routeTextOf(shipment), [shipment.etag]);
  const booked = useMemo(() => bookedWindows(shipment), [shipment.etag]);
  const windows = useWindows(route, { booked });
  const move = useAction(async () => {
    const request = { shipment: shipment.reference, etag: shipment.etag };
    await shipments.updateShipment({ ...request, ...windowChanges(windows, booked) }, once);
    toast("The times are saved.");
    close();
  });
  const { problem: refused } = move;
  const problem = useMemo(
    () => refused && problemOfMove(windows.inWords(refused), shipment),
    [refused],
  );
  const isPaid = shipment.paymentStatus === PaymentStatus.PAID;
  return (
    <Dialog title="Reschedule the shipment" close={close}>
      <Form
        name="Reschedule the shipment"
        action={{ ...move, problem }}
        submit="Save the times"
        cancel={close}
      >
        <p>
          {isPaid
            ? "It is paid, so its price stays: choose times that cost no more than those it has."
            : "It is not paid yet: its price follows the times."}
        </p>
        <WindowFields
          windows={windows}
          booked={booked}
          total={shipment.total - shipment.windowFee}
        />
        {refused && isOfWindows(refused) && <NextWindows problem={refused} windows={windows} />}
      </Form>
    </Dialog>
  );
}

function problemOfMove(problem: Problem, { windowFee, currency }: Shipment): Problem {
  if (problem.reason !== "PRICE_CHANGED") return problem;
  const dearer =
    windowFee > 0
      ? `cost more than the ${moneyText(windowFee, currency)} paid for its own`
      : "have an extra charge";
  const message = `Nothing is changed: the shipment is paid, and these times ${dearer}. Choose times that cost no more, or cancel it and book it anew.`;
  return { ...problem, message, fields: {} };
}
