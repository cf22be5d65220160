import { SimulatedStep } from "../../../gen/shipments/v1/simulation_pb.js";
import { TestService } from "../../../gen/shipments/v1/test_service_pb.js";
import { inverseOf } from "../../db/columns.ts";
import type { SimulatedStep as Step } from "../../domain/shipment/simulation.ts";
import type { Changed } from "../shipments/change-shipment.ts";
import type { PaymentChange } from "../payments/stored-payment.ts";
import { applyStep, hasCheckout, writeStep } from "./simulated-step.ts";
import type { TestModeFunctions } from "./test-clocks.ts";

const STEP: Readonly<Record<Step, SimulatedStep>> = {
  pay: SimulatedStep.PAY,
  decline_payment: SimulatedStep.DECLINE_PAYMENT,
  pick_up: SimulatedStep.PICK_UP,
  deliver: SimulatedStep.DELIVER,
  cancel: SimulatedStep.CANCEL,
  refund: SimulatedStep.REFUND,
  fail_refund: SimulatedStep.FAIL_REFUND,
  open_dispute: SimulatedStep.OPEN_DISPUTE,
  win_dispute: SimulatedStep.WIN_DISPUTE,
  lose_dispute: SimulatedStep.LOSE_DISPUTE,
};

const stepOf = inverseOf(STEP);

/** A simulation that the shipment has goes on, as far as that is then possible. */
export const takeTestStep: TestModeFunctions["takeTestStep"] = (
  request,
  call,
  { changeShipment, now },
) => {
  const step = stepOf(request.step)!;
  const key = { workspace: call.caller.workspaceId, reference: request.shipment };
  return changeShipment({
    method: TestService.method.takeTestStep,
    request,
    call,
    load: (tx) => hasCheckout(tx, key),
    change(before, isAtProvider, at): Changed<PaymentChange> {
      const made = applyStep(before, step, at, isAtProvider);
      return { row: made.row, made };
    },
    write: (tx, taken) => writeStep(tx, key, taken, now()),
  });
};
