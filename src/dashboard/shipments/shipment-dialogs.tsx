import type { ComponentType } from "preact";
import { useMemo } from "preact/hooks";
import { PaymentStatus, ShipmentStatus, type Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import type { Problem } from "../api/problem.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { Dialog, RpcDialog } from "../ui/dialog.tsx";
import { choicesOf, TextField } from "../ui/fields.tsx";
import { textOf } from "../ui/form-data.ts";
import { Form } from "../ui/form.tsx";
import { moneyText } from "../ui/format.ts";
import { toast } from "../ui/toast.tsx";
import { Money } from "../ui/values.tsx";
import { AttemptDialog, CourierDialog, RemoveCourierDialog, ReturnDialog } from "./courier.tsx";
import { ProofDialog, WaiveDialog } from "./proof.tsx";
import { routeTextOf } from "./route.ts";
import { blocksRefund, CANCEL_REASONS, StateBadge } from "./shipment-badge.tsx";
import type { Step } from "./step.ts";
import { useWindows, windowChanges } from "./use-windows.ts";
import { NextWindows, WindowFields } from "./window-fields.tsx";
import { bookedWindows, isOfWindows } from "./windows.ts";

interface DialogProps {
  readonly shipment: Shipment;
  readonly close: () => void;
}

const DIALOGS: Readonly<Record<Step, ComponentType<DialogProps>>> = {
  "Record payment": PaymentDialog,
  "Record late payment": PaymentDialog,
  "Mark as picked up": AdvanceDialog,
  "Mark as delivered": AdvanceDialog,
  "Assign courier": CourierDialog,
  "Remove courier": RemoveCourierDialog,
  "Record attempt": AttemptDialog,
  "Record proof": ProofDialog,
  "Waive verification": WaiveDialog,
  "Mark as returned": ReturnDialog,
  "Record refund": RefundDialog,
  Reschedule: RescheduleDialog,
  "Cancel shipment": CancelDialog,
};

/** Confirms an action. `from` is the shipment at the time the user requested the action. */
export function StepDialog(props: DialogProps & { readonly step: Step; readonly from: Shipment }) {
  const { step, from, shipment } = props;
  const isStale = from.status !== shipment.status || from.paymentStatus !== shipment.paymentStatus;
  const Shown = isStale ? StaleDialog : DIALOGS[step];
  return <Shown shipment={shipment} close={props.close} />;
}

function StaleDialog({ shipment, close }: DialogProps) {
  return (
    <Dialog title="The shipment has changed" submit="Show shipment" close={close}>
      <p>
        Its status is <StateBadge {...shipment} /> now. Check it before you continue.
      </p>
    </Dialog>
  );
}

function PaymentDialog({ shipment, close }: DialogProps) {
  const isLate = shipment.status === ShipmentStatus.CANCELLED;
  return (
    <RpcDialog
      method={ShipmentService.method.recordPayment}
      title="Record payment"
      submit="Record payment"
      request={(form) => ({
        shipment: shipment.reference,
        currency: textOf(form, "currency").toUpperCase(),
      })}
      done="Payment recorded."
      close={close}
    >
      <p>
        {isLate
          ? "The shipment is cancelled. The late payment is recorded as due for a refund."
          : "After that, the shipment waits for pickup. Recorded payments cannot be removed."}
      </p>
      <div class="field-row">
        <TextField name="amount" label="Amount" numeric value={shipment.total} />
        <TextField name="currency" label="Currency" value={shipment.currency} />
      </div>
    </RpcDialog>
  );
}

function AdvanceDialog({ shipment, close }: DialogProps) {
  const isPickup = shipment.status === ShipmentStatus.AWAITING_PICKUP;
  return (
    <RpcDialog
      method={ShipmentService.method.advanceShipment}
      title={isPickup ? "Mark as picked up" : "Mark as delivered"}
      submit={isPickup ? "Mark as picked up" : "Mark as delivered"}
      request={{ shipment: shipment.reference }}
      done={isPickup ? "Shipment picked up." : "Shipment delivered."}
      close={close}
    >
      <p>
        {isPickup
          ? `Confirm that the courier picked it up at ${shipment.pickupAddress}. After that, it can no longer be cancelled.`
          : `Confirm that it was delivered to ${shipment.dropoffAddress}. After that, it can no longer be changed.`}
      </p>
    </RpcDialog>
  );
}

function CancelDialog({ shipment, close }: DialogProps) {
  return (
    <RpcDialog
      method={ShipmentService.method.cancelShipment}
      title="Cancel shipment"
      dismiss="Keep it"
      tone="danger"
      request={{ shipment: shipment.reference }}
      fields={{
        reason: { label: "Reason", optional: true, choices: choicesOf(CANCEL_REASONS) },
        note: { label: "Note", isLong: true },
      }}
      done="Shipment cancelled."
      close={close}
    >
      <p>
        This cannot be undone. {shipment.paymentDetails?.checkoutUrl !== undefined && "Its pay link expires."}
        {shipment.paymentStatus === PaymentStatus.PAID && (
          <>
            It is paid: <Money amount={shipment.total} currency={shipment.currency} /> {refundOf(shipment)}
          </>
        )}
      </p>
    </RpcDialog>
  );
}

function refundOf({ paymentDetails }: Shipment): string {
  if (paymentDetails === undefined) return "will be refunded.";
  return blocksRefund(paymentDetails)
    ? "will be refunded once the dispute is decided."
    : "will be refunded automatically, less earlier refunds.";
}

function RefundDialog({ shipment, close }: DialogProps) {
  return (
    <RpcDialog
      method={ShipmentService.method.recordRefund}
      title="Record refund"
      request={{ shipment: shipment.reference }}
      done="Refund recorded."
      close={close}
    >
      <p>
        <Money amount={shipment.total} currency={shipment.currency} /> went back to{" "}
        {shipment.customer?.name ?? "the customer"}. Recorded refunds cannot be removed.
      </p>
    </RpcDialog>
  );
}

function RescheduleDialog({ shipment, close }: DialogProps) {
  const shipments = useClient(ShipmentService);
  const once = useIdempotencyOptions();
  const route = useMemo(() => routeTextOf(shipment), [shipment.etag]);
  const booked = useMemo(() => bookedWindows(shipment), [shipment.etag]);
  const windows = useWindows(route, { booked });
  const move = useAction(async () => {
    const request = { shipment: shipment.reference, etag: shipment.etag };
    await shipments.updateShipment({ ...request, ...windowChanges(windows, booked) }, once);
    toast("Times saved.");
    close();
  });
  const { problem: refused } = move;
  const problem = useMemo(() => refused && problemOfMove(windows.reword(refused), shipment), [refused]);
  const isPaid = shipment.paymentStatus === PaymentStatus.PAID;
  return (
    <Dialog title="Reschedule shipment" close={close}>
      <Form name="Reschedule shipment" action={{ ...move, problem }} submit="Save times" cancel={close}>
        <p>
          {isPaid
            ? "The shipment is paid, so its price is fixed. Choose times that cost no more than the current ones."
            : "The shipment is not paid yet. Choosing other times can change its price."}
        </p>
        <WindowFields windows={windows} booked={booked} total={shipment.total - shipment.windowFee} />
        {refused && isOfWindows(refused) && <NextWindows problem={refused} windows={windows} />}
      </Form>
    </Dialog>
  );
}

function problemOfMove(problem: Problem, { windowFee, currency }: Shipment): Problem {
  if (problem.reason !== "PRICE_CHANGED") return problem;
  const increase =
    windowFee > 0
      ? `cost more than the ${moneyText(windowFee, currency)} paid for its current times`
      : "have an extra charge";
  const message = `The shipment is already paid, and these times ${increase}. Choose times that cost no more, or cancel the shipment and book a new one.`;
  return { ...problem, message, fields: {} };
}
