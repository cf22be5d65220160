import { useMemo } from "preact/hooks";
import { PaymentStatus, type Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import type { Problem } from "../api/problem.ts";
import { useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form.tsx";
import { moneyText } from "../ui/format.ts";
import { toast } from "../ui/toast.tsx";
import { routeTextOf, type ShipmentDialogProps } from "./shipment-edit.tsx";
import { NextWindows, useWindows, windowChanges, WindowFields } from "./window-fields.tsx";
import { bookedWindows, isOfWindows } from "./windows.ts";

/** Moves the times of a shipment, or takes them away, until it is picked up. */
export function RescheduleDialog({ shipment, close }: ShipmentDialogProps) {
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
