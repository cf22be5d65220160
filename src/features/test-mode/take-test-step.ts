import { SimulatedStepSchema } from "../../../gen/shipments/v1/simulation_pb.js";
import { TestService } from "../../../gen/shipments/v1/test_service_pb.js";
import type { SimulatedStep } from "../../domain/shipment/simulation.ts";
import { compileEnumName } from "../../json/records.ts";
import type { Changed } from "../shipments/change-shipment.ts";
import type { PaymentChange } from "../payments/stored-payment.ts";
import { applyStep, hasCheckout, writeStep } from "./simulated-step.ts";
import type { TestModeFunctions } from "./test-clocks.ts";

const stepOf = compileEnumName<SimulatedStep>(SimulatedStepSchema);

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
