import { useMemo, useState } from "preact/hooks";
import { PaymentStatus, ShipmentStatus, type Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { useRole } from "../api/session.ts";
import { labelsHref, paths } from "../routes/paths.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { lazily } from "../ui/lazily.tsx";
import { More } from "../ui/menu.tsx";
import { isUnverified } from "./proof.tsx";
import { routeTextOf } from "./route.ts";
import { isPaid } from "./shipment-badge.tsx";
import { labelOf, pickupStep, type Step } from "./step.ts";
import { useHasCouriers } from "./use-has-couriers.ts";
import { useWindows } from "./use-windows.ts";

function courierSteps({ courier }: Shipment): readonly Step[] {
  const remove = courier === undefined ? [] : (["Remove courier"] as const);
  return ["Assign courier", ...remove, "Record attempt"];
}

interface Steps {
  /** The most common action. */
  readonly primary?: Step | undefined;
  readonly others?: readonly Step[];
  readonly isEditable?: boolean;
  readonly isCancellable?: boolean;
}

/**
 * Returns the actions available for a shipment.
 *
 * @param hasTimes whether the route has selectable times
 * @param isOnline whether payments and refunds are recorded automatically
 */
export function stepsOf(
  shipment: Shipment,
  { hasTimes, isOnline, hasCouriers }: Readonly<Record<"hasTimes" | "isOnline" | "hasCouriers", boolean>>,
): Steps {
  const { status, paymentStatus } = shipment;
  const others: Step[] = hasTimes ? ["Reschedule"] : [];
  const before = { others, isEditable: true, isCancellable: true };
  switch (status) {
    case ShipmentStatus.PENDING:
      return { ...before, primary: isOnline ? undefined : "Record payment" };
    case ShipmentStatus.AWAITING_PICKUP: {
      const primary = pickupStep(shipment, hasCouriers);
      const all = ["Mark as picked up", ...others, ...courierSteps(shipment)] as const;
      return { ...before, primary, others: all.filter((step) => step !== primary) };
    }
    case ShipmentStatus.IN_TRANSIT:
      return {
        primary: "Mark as delivered",
        others: [
          "Record proof",
          ...(isUnverified(shipment) ? (["Waive verification"] as const) : []),
          ...courierSteps(shipment),
          "Mark as returned",
        ],
        isEditable: true,
      };
    case ShipmentStatus.CANCELLED:
      if (isOnline) return {};
      if (paymentStatus === PaymentStatus.REFUND_PENDING) return { primary: "Record refund" };
      return paymentStatus === PaymentStatus.VOIDED ? { others: ["Record late payment"] } : {};
    default:
      return {};
  }
}

export const StepDialog = lazily(() => import("./shipment-dialogs.tsx"), "StepDialog");

/** The most common action as a button, and the remaining ones in a menu with irreversible ones last. */
export function ShipmentActions(props: {
  readonly shipment: Shipment;
  /** Whether payments and refunds are recorded automatically. */
  readonly isOnline: boolean;
}) {
  const { shipment, isOnline } = props;
  const { reference } = shipment;
  const [open, setOpen] = useState<{ readonly step: Step; readonly from: Shipment }>();
  const mayChange = useRole("member");
  const hasTimes = useHasTimes(shipment, mayChange);
  const hasCouriers = useHasCouriers(
    mayChange && shipment.status === ShipmentStatus.AWAITING_PICKUP && !shipment.courier,
  );
  const steps = mayChange ? stepsOf(shipment, { hasTimes, isOnline, hasCouriers }) : {};
  const ask = (step: Step) => () => setOpen({ step, from: shipment });
  return (
    <>
      {steps.primary && (
        <Button primary onClick={ask(steps.primary)}>
          {steps.primary}
        </Button>
      )}
      <More>
        {steps.isEditable && <LinkButton href={paths.editShipment({ reference })}>Edit</LinkButton>}
        {steps.others?.map((step) => (
          <Button key={step} onClick={ask(step)}>
            {labelOf(step, shipment)}
          </Button>
        ))}
        <LinkButton href={labelsHref([shipment])}>Print label</LinkButton>
        {isPaid(shipment) && <LinkButton href={paths.receipt({ reference })}>Receipt</LinkButton>}
        {steps.isCancellable && (
          <Button destructive onClick={ask("Cancel shipment")}>
            Cancel shipment
          </Button>
        )}
      </More>
      {open && <StepDialog {...open} shipment={shipment} close={() => setOpen(undefined)} />}
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
