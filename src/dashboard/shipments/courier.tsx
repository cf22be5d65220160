import { AttemptReason, DeliveryStage } from "../../../gen/shipments/v1/courier_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { RpcDialog } from "../ui/dialog.tsx";
import { choicesOf } from "../ui/fields.tsx";

export const STAGES: Readonly<Record<DeliveryStage, string | undefined>> = {
  [DeliveryStage.UNSPECIFIED]: undefined,
  [DeliveryStage.ASSIGNED]: "On the way to pickup",
  [DeliveryStage.AT_PICKUP]: "At pickup",
  [DeliveryStage.AT_DROPOFF]: "At dropoff",
};

export const ATTEMPT_REASONS: Readonly<Record<AttemptReason, string>> = {
  [AttemptReason.UNSPECIFIED]: "Choose a reason",
  [AttemptReason.NOBODY_THERE]: "No one there",
  [AttemptReason.REFUSED]: "Not handed over or not accepted",
  [AttemptReason.WRONG_ADDRESS]: "Problem with the address",
  [AttemptReason.DAMAGED]: "Damaged",
  [AttemptReason.OTHER]: "Another reason",
};

interface DialogProps {
  readonly shipment: Shipment;
  readonly close: () => void;
}

export function CourierDialog({ shipment, close }: DialogProps) {
  const { reference, courier } = shipment;
  return (
    <RpcDialog
      method={ShipmentService.method.setCourier}
      title="Assign courier"
      submit="Save courier"
      request={{ shipment: reference }}
      fields={{
        name: "Name",
        phone: { label: "Phone", hint: "With country code, such as +12125550123" },
        vehicle: "Vehicle",
        externalId: { label: "Id", hint: "From your own system" },
      }}
      values={courier ?? {}}
      done="Courier saved."
      close={close}
    />
  );
}

export function RemoveCourierDialog({ shipment, close }: DialogProps) {
  return (
    <RpcDialog
      method={ShipmentService.method.removeCourier}
      title="Remove courier"
      request={{ shipment: shipment.reference }}
      done="Courier removed."
      close={close}
    >
      <p>The shipment then has no courier until another one is assigned.</p>
    </RpcDialog>
  );
}

export function AttemptDialog({ shipment, close }: DialogProps) {
  return (
    <RpcDialog
      method={ShipmentService.method.recordAttempt}
      title="Record failed attempt"
      submit="Record attempt"
      request={{ shipment: shipment.reference }}
      fields={{
        reason: { label: "Reason", choices: choicesOf(ATTEMPT_REASONS) },
        note: { label: "Note", isLong: true },
      }}
      done="Attempt recorded."
      close={close}
    >
      <p>The status of the shipment does not change. Another attempt is possible.</p>
    </RpcDialog>
  );
}

export function ReturnDialog({ shipment, close }: DialogProps) {
  return (
    <RpcDialog
      method={ShipmentService.method.returnShipment}
      title="Mark as returned"
      submit="Mark as returned"
      request={{ shipment: shipment.reference }}
      done="Shipment marked as returned."
      close={close}
    >
      <p>Confirm that it was returned to {shipment.pickupAddress}. It stays paid and can no longer be changed.</p>
    </RpcDialog>
  );
}
