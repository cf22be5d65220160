import type { ComponentType } from "preact";
import { useMemo } from "preact/hooks";
import { DropoffVerification } from "../../../gen/shipments/v1/courier_pb.js";
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
import { AssignDialog } from "./assign-dialog.tsx";
import { ATTEMPT_REASONS, VERIFICATIONS } from "./delivery-choices.ts";
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

interface StepProps {
  readonly shipment: Shipment;
  /** Props that the dialogs of all steps share. */
  readonly own: ReturnType<typeof ownOf>;
}

function ownOf(step: Step, { shipment, close }: DialogProps) {
  return { title: step as string, submit: step as string, request: { shipment: shipment.reference }, close };
}

const { method } = ShipmentService;

const DIALOGS: Readonly<Record<Step, ComponentType<StepProps>>> = {
  "Record payment": PaymentDialog,
  "Record late payment": PaymentDialog,
  "Mark as picked up": AdvanceDialog,
  "Mark as delivered": AdvanceDialog,
  "Assign courier": AssignSingleDialog,
  "Remove courier": ({ own }) => (
    <RpcDialog {...own} method={method.removeCourier} done="Courier removed.">
      <p>The shipment then has no courier until another one is assigned.</p>
    </RpcDialog>
  ),
  "Record attempt": ({ own }) => (
    <RpcDialog
      {...own}
      method={method.recordAttempt}
      title="Record failed attempt"
      fields={{
        reason: { label: "Reason", choices: choicesOf(ATTEMPT_REASONS) },
        note: { label: "Note", isLong: true },
      }}
      done="Attempt recorded."
    >
      <p>The status of the shipment does not change. Another attempt is possible.</p>
    </RpcDialog>
  ),
  "Record proof": ({ shipment: { dropoffVerification, proof }, own }) => (
    <RpcDialog
      {...own}
      method={method.recordProof}
      title="Record proof of delivery"
      fields={{
        receivedBy: "Received by",
        ...(dropoffVerification === DropoffVerification.PIN &&
          !proof?.pinVerified && { pin: { label: "PIN", hint: "Four digits, from the recipient" } }),
        note: { label: "Note", isLong: true },
      }}
      done="Proof recorded."
    >
      <p>Couriers record photos and signatures on their own devices.</p>
    </RpcDialog>
  ),
  "Waive verification": ({ shipment, own }) => (
    <RpcDialog
      {...own}
      method={method.waiveVerification}
      fields={{ reason: { label: "Reason", isLong: true } }}
      done="Verification waived."
    >
      <p>
        The shipment can then be delivered without {VERIFICATIONS[shipment.dropoffVerification].toLowerCase()}. The
        timeline shows who waived it.
      </p>
    </RpcDialog>
  ),
  "Mark as returned": ({ shipment, own }) => (
    <RpcDialog {...own} method={method.returnShipment} done="Shipment marked as returned.">
      <p>Confirm that it was returned to {shipment.pickupAddress}. It stays paid and can no longer be changed.</p>
    </RpcDialog>
  ),
  "Record refund": ({ shipment, own }) => (
    <RpcDialog {...own} method={method.recordRefund} done="Refund recorded.">
      <p>
        <Money amount={shipment.total} currency={shipment.currency} /> went back to{" "}
        {shipment.customer?.name ?? "the customer"}. Recorded refunds cannot be removed.
      </p>
    </RpcDialog>
  ),
  Reschedule: RescheduleDialog,
  "Cancel shipment": CancelDialog,
};

/** Confirms an action. `from` is the shipment at the time the user requested the action. */
export function StepDialog(props: DialogProps & { readonly step: Step; readonly from: Shipment }) {
  const { step, from, shipment } = props;
  const isStale = from.status !== shipment.status || from.paymentStatus !== shipment.paymentStatus;
  const Shown = DIALOGS[step];
  return isStale ? <StaleDialog {...props} /> : <Shown shipment={shipment} own={ownOf(step, props)} />;
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

function PaymentDialog({ shipment, own }: StepProps) {
  const isLate = shipment.status === ShipmentStatus.CANCELLED;
  return (
    <RpcDialog
      {...own}
      method={method.recordPayment}
      request={(form) => ({ ...own.request, currency: textOf(form, "currency").toUpperCase() })}
      done="Payment recorded."
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

function AdvanceDialog({ shipment, own }: StepProps) {
  const isPickup = shipment.status === ShipmentStatus.AWAITING_PICKUP;
  return (
    <RpcDialog {...own} method={method.advanceShipment} done={isPickup ? "Shipment picked up." : "Shipment delivered."}>
      <p>
        {isPickup
          ? `Confirm that the courier picked it up at ${shipment.pickupAddress}. After that, it can no longer be cancelled.`
          : `Confirm that it was delivered to ${shipment.dropoffAddress}. After that, it can no longer be changed.`}
      </p>
    </RpcDialog>
  );
}

/** Assigns one of the workspace's couriers, or a courier who is typed because the list does not contain them. */
function AssignSingleDialog({ shipment, own }: StepProps) {
  const shipments = useMemo(() => [shipment], [shipment]);
  const unlisted = (
    <RpcDialog
      {...own}
      method={method.setCourier}
      submit="Save courier"
      fields={{
        name: "Name",
        phone: { label: "Phone", hint: "With country code, such as +12125550123" },
        vehicle: "Vehicle",
        externalId: { label: "External ID", hint: "From your own system" },
      }}
      values={shipment.courier?.courierId === undefined ? shipment.courier : {}}
      done="Courier saved."
    />
  );
  return <AssignDialog shipments={shipments} close={own.close} unlisted={unlisted} />;
}

function CancelDialog({ shipment, own }: StepProps) {
  return (
    <RpcDialog
      {...own}
      method={method.cancelShipment}
      dismiss="Keep it"
      tone="danger"
      fields={{
        reason: { label: "Reason", optional: true, choices: choicesOf(CANCEL_REASONS) },
        note: { label: "Note", isLong: true },
      }}
      done="Shipment cancelled."
    >
      <p>
        This cannot be undone. {shipment.paymentDetails?.checkoutUrl !== undefined && "Its pay link expires."}
        {shipment.paymentStatus === PaymentStatus.PAID && <Refund {...shipment} />}
      </p>
    </RpcDialog>
  );
}

function Refund({ total, currency, paymentDetails }: Shipment) {
  const amount = <Money amount={total} currency={currency} />;
  if (paymentDetails === undefined)
    return <>The payment was recorded by hand, so refund the {amount} yourself, then record the refund.</>;
  const when = blocksRefund(paymentDetails) ? "once the dispute is decided" : "automatically, less earlier refunds";
  return (
    <>
      It is paid: {amount} will be refunded {when}.
    </>
  );
}

function RescheduleDialog({ shipment, own: { close } }: StepProps) {
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
