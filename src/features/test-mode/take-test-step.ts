import { SimulatedStepSchema } from "../../../gen/shipments/v1/simulation_pb.js";
import { TestService } from "../../../gen/shipments/v1/test_service_pb.js";
import { type NextStep, nextStep, type SimulatedStep } from "../../domain/shipment/simulation.ts";
import { compileEnumName } from "../../json/records.ts";
import type { Changed } from "../shipments/change-shipment.ts";
import type { PaymentChange } from "../payments/stored-payment.ts";
import { applyStep, writeStep } from "./simulated-step.ts";
import { loadForStep, writeNextStep } from "./simulations.ts";
import type { TestModeFunctions } from "./test-clocks.ts";

const stepOf = compileEnumName<SimulatedStep>(SimulatedStepSchema);

interface Made {
  readonly change: PaymentChange;
  /** Next step of the shipment's simulation, if the simulation expected this step. Otherwise `undefined`. */
  readonly followed: { readonly next: NextStep | undefined } | undefined;
}

/** Performs a step. A simulation that expected a different step continues until a step is impossible. */
export const takeTestStep: TestModeFunctions["takeTestStep"] = (request, call, { changeShipment, now }) => {
  const step = stepOf(request.step)!;
  const key = { workspace: call.caller.workspaceId, reference: request.shipment };
  return changeShipment({
    method: TestService.method.takeTestStep,
    request,
    call,
    load: (tx) => loadForStep(tx, key),
    change(before, { simulation, isAtProvider }, at): Changed<Made> {
      const change = applyStep(before, step, at, isAtProvider);
      const isNext = simulation && nextStep(simulation, simulation.taken, at)?.step === step;
      const followed = isNext && { next: nextStep(simulation, simulation.taken + 1, at) };
      return { row: change.row, made: { change, followed: followed || undefined } };
    },
    write(tx, { change, followed }) {
      writeStep(tx, key, change, now());
      if (followed !== undefined) writeNextStep(tx, key, followed.next);
    },
  });
};
