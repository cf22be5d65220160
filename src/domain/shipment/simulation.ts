/** A simulated action of the payer, courier or payment provider in test mode. */
export type SimulatedStep =
  | "pay"
  | "decline_payment"
  | "assign_courier"
  | "arrive"
  | "pick_up"
  | "travel"
  | "fail_attempt"
  | "deliver"
  | "return"
  | "cancel"
  | "refund"
  | "fail_refund"
  | "open_dispute"
  | "win_dispute"
  | "lose_dispute";

/** A predefined sequence of simulated steps in test mode. */
export type Scenario =
  | "deliver"
  | "late"
  | "no_courier"
  | "payment_declined"
  | "payment_after_cancel"
  | "refund_failed"
  | "dispute"
  | "stuck"
  | "failed_attempt"
  | "returned";

interface ScenarioStep {
  readonly step: SimulatedStep;
  /** Factor for the delay before this step. Defaults to 1. */
  readonly wait?: number;
}

/** Factor by which the scenario `late` is slower. */
const LATE = 10;

/** Steps up to the pickup. */
const COLLECTED: readonly ScenarioStep[] = [
  { step: "pay" },
  { step: "assign_courier" },
  { step: "arrive" },
  { step: "pick_up" },
];
const FAILED: readonly ScenarioStep[] = [{ step: "arrive" }, { step: "fail_attempt" }];

/**
 * Returns the steps of a delivery whose courier reports each step. The time to the pickup and the
 * time to the delivery each equal one step.
 *
 * @param slowness factor by which both times are multiplied
 */
function delivery(slowness: number): readonly ScenarioStep[] {
  return [
    { step: "pay" },
    { step: "assign_courier", wait: slowness / 2 },
    { step: "arrive", wait: slowness / 4 },
    { step: "pick_up", wait: slowness / 4 },
    { step: "travel", wait: slowness / 2 },
    { step: "arrive", wait: slowness / 4 },
    { step: "deliver", wait: slowness / 4 },
  ];
}

/** Steps of each scenario, after the booking. */
const STEPS: Readonly<Record<Scenario, readonly ScenarioStep[]>> = {
  deliver: delivery(1),
  late: delivery(LATE),
  no_courier: [{ step: "pay" }, { step: "cancel" }, { step: "refund" }],
  payment_declined: [{ step: "decline_payment" }],
  payment_after_cancel: [{ step: "cancel" }, { step: "pay" }, { step: "refund" }],
  refund_failed: [{ step: "pay" }, { step: "cancel" }, { step: "fail_refund" }],
  dispute: [
    { step: "pay" },
    { step: "pick_up" },
    { step: "deliver" },
    { step: "open_dispute" },
    { step: "lose_dispute" },
  ],
  stuck: [{ step: "pay" }],
  failed_attempt: [...COLLECTED, ...FAILED, { step: "arrive" }, { step: "deliver" }],
  returned: [...COLLECTED, ...FAILED, ...FAILED, { step: "return" }],
};

export const SCENARIOS = Object.keys(STEPS) as readonly Scenario[];

export interface NextStep {
  readonly step: SimulatedStep;
  readonly dueAt: Date;
}

/**
 * Returns the next step of a simulation, or `undefined` if it is complete.
 *
 * @param stepsDone number of completed steps
 * @param since time of the last step, or of the booking
 */
export function nextStep(
  { scenario, stepSeconds }: { readonly scenario: Scenario; readonly stepSeconds: number },
  stepsDone: number,
  since: Date,
): NextStep | undefined {
  const next = STEPS[scenario][stepsDone];
  if (next === undefined) return undefined;
  const dueAt = new Date(since.getTime() + (next.wait ?? 1) * stepSeconds * 1_000);
  return { step: next.step, dueAt };
}
