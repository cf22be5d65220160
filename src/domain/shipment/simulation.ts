/** What can be made to happen to a shipment in test mode, as if its payer, courier or payment provider did it. */
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

/** What becomes of a shipment in test mode by itself. */
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
  /** How many times as long after the one before as usual; 1 unless given. */
  readonly wait?: number;
}

/** By how many times a shipment of the scenario `late` takes longer. */
const LATE = 10;

/** As its courier reports it. */
const COLLECTED: readonly ScenarioStep[] = [
  { step: "pay" },
  { step: "assign_courier" },
  { step: "arrive" },
  { step: "pick_up" },
];
const FAILED: readonly ScenarioStep[] = [{ step: "arrive" }, { step: "fail_attempt" }];

/**
 * A delivery whose courier reports each step. Pickup and delivery each take as long as one step.
 *
 * @param slowness how many times as long
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

/** The steps of each scenario, the first of which follows the booking. */
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

/** What becomes of shipments in test mode by themselves. */
export const SCENARIOS = Object.keys(STEPS) as readonly Scenario[];

export interface NextStep {
  readonly step: SimulatedStep;
  readonly dueAt: Date;
}

/**
 * The next step of a simulation; undefined when it is over.
 *
 * @param taken how many of its steps were taken
 * @param since when the last of them was, or the booking
 */
export function nextStep(
  { scenario, stepSeconds }: { readonly scenario: Scenario; readonly stepSeconds: number },
  taken: number,
  since: Date,
): NextStep | undefined {
  const next = STEPS[scenario][taken];
  if (next === undefined) return undefined;
  const dueAt = new Date(since.getTime() + (next.wait ?? 1) * stepSeconds * 1_000);
  return { step: next.step, dueAt };
}
