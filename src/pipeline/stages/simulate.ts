import type { Verdict } from "../../domain/rate-limit.ts";
import { refuse, unavailable, type Refusal } from "../../domain/refusal.ts";
import { SLOWED } from "../bounds/limits.ts";
import { MAX_ATTEMPTS } from "../../domain/webhook/webhook-schedule.ts";
import type { AnyCall, Caller, ReceivedCall } from "../call.ts";
import type { Rpc, StreamRpc } from "../rpc.ts";
import { deadlineError } from "./deadline.ts";

/**
 * Applies the faults in the `Simulate` header of a test mode call before the body is read. Returns a promise
 * if the call is delayed. Also records the value of the response header, which is `ignored` for other calls.
 *
 * @throws Refusal FIELD_INVALID, and the simulated refusals UNAVAILABLE, RATE_LIMITED and
 *   IDEMPOTENCY_KEY_IN_USE. DEADLINE_EXCEEDED if the delay exceeds the deadline
 */
export type Simulate = (rpc: Rpc | StreamRpc, call: ReceivedCall, caller: Caller) => void | Promise<void>;

type MakeRefusal = (call: ReceivedCall) => Refusal;

type Faults = ReturnType<typeof parseFaults>;

export function createSimulate(): Simulate {
  const slowed = createSlowedCalls();

  async function slowDown(faults: Faults, call: ReceivedCall, caller: Caller): Promise<void> {
    const leftMs = (call.deadlineMs ?? Infinity) - performance.now();
    await slowed.wait(call, caller.account, Math.min(faults.slowMs, Math.max(0, leftMs)));
    // Comparing the times is necessary, because a timer can fire slightly early and the call would succeed.
    if (leftMs <= faults.slowMs) throw deadlineError();
    if (faults.refusal !== undefined) throw faults.refusal(call);
  }

  return (rpc, call, caller) => {
    const { simulate } = call.headers;
    if (simulate === undefined) return;
    if (caller.audience !== "workspace" || !caller.test) {
      call.simulation = { result: "ignored", losesAnswer: false };
      return;
    }
    const faults = parseFaults(simulate, "readOnly" in rpc && !rpc.readOnly);
    const { result, losesAnswer, fillsSlots, deliveryFaults } = faults;
    call.simulation = { result, losesAnswer, fillsSlots, deliveryFaults };
    if (faults.slowMs > 0) return slowDown(faults, call, caller);
    if (faults.refusal !== undefined) throw faults.refusal(call);
  };
}

/** Whether the response must be dropped. Only the first execution loses its response, not a replay. */
export function isAnswerLost({ received, replayed }: AnyCall): boolean {
  return received.simulation?.losesAnswer === true && !replayed;
}

/** Rate limit state of a simulated refusal, for the response headers. */
const USED_UP: Verdict = { allowed: false, remaining: 0, resetSeconds: 1 };

const REFUSALS: Readonly<Record<string, MakeRefusal>> = {
  unavailable: () => unavailable("The service is unavailable, as requested by Simulate. Try again."),
  rate_limited: (call) => {
    call.rateLimit = { ...call.rateLimit!, verdict: USED_UP };
    return refuse("RATE_LIMITED", "The workspace has used up its calls, as requested by Simulate.", {
      retryAfterSeconds: USED_UP.resetSeconds,
    });
  },
  in_flight: () => refuse("IDEMPOTENCY_KEY_IN_USE", { retryAfterSeconds: 1 }),
};

const MAX_SLOW_MS = 10_000;

/** Additional faults, only for calls that write. */
const WRITE_FAULTS = ["in_flight", "slot_full", "duplicate_webhook", "reorder_webhooks", "fail_webhook"];

function parseFaults(text: string, isWrite: boolean) {
  const parts = text.split(",").map((it) => it.trim());
  const requested = new Map(parts.map(parseFault));
  // Refuses duplicates, which keeps the response header short.
  if (requested.size < parts.length) throw simulateError();
  if (!isWrite && WRITE_FAULTS.some((name) => requested.has(name))) throw simulateError();
  const refusing = [...requested.keys()].find((name) => Object.hasOwn(REFUSALS, name));
  const failures = requested.get("fail_webhook") ?? null;
  const duplicated = requested.has("duplicate_webhook");
  const reordered = requested.has("reorder_webhooks");
  const isOfDeliveries = duplicated || reordered || failures !== null;
  return {
    result: parts.join(", "),
    refusal: refusing === undefined ? undefined : REFUSALS[refusing],
    slowMs: requested.get("slow") ?? 0,
    losesAnswer: requested.has("lose_answer"),
    fillsSlots: requested.has("slot_full"),
    deliveryFaults: isOfDeliveries ? { duplicated, reordered, failures } : undefined,
  };
}

/** Maximum number of each fault. `undefined` for faults without a number. */
const MAX_NUMBERS: Readonly<Record<string, number | undefined>> = {
  ...Object.fromEntries(Object.keys(REFUSALS).map((name) => [name, undefined])),
  slow: MAX_SLOW_MS,
  lose_answer: undefined,
  slot_full: undefined,
  duplicate_webhook: undefined,
  reorder_webhooks: undefined,
  fail_webhook: MAX_ATTEMPTS,
};

function parseFault(text: string): readonly [name: string, count: number | undefined] {
  const [, name = "", digits] = /^([a-z_]+)(?:=(\d{1,5}))?$/.exec(text) ?? [];
  const largest = MAX_NUMBERS[name];
  const isKnown = Object.hasOwn(MAX_NUMBERS, name) && (largest === undefined) === (digits === undefined);
  const count = digits === undefined ? undefined : Number(digits);
  if (!isKnown || (count ?? 0) > (largest ?? 0)) throw simulateError();
  return [name, count];
}

function simulateError(): Refusal {
  return refuse(
    "FIELD_INVALID",
    `Simulate must be a comma-separated list of faults without duplicates. All calls: unavailable, rate_limited, lose_answer, slow=MS (up to ${MAX_SLOW_MS}). Writes only: in_flight, slot_full, duplicate_webhook, reorder_webhooks, fail_webhook=N (up to ${MAX_ATTEMPTS}).`,
    { subject: "simulate" },
  );
}

function createSlowedCalls() {
  const ofAccounts = new Map<number | string, number>();
  let all = 0;
  return {
    /**
     * Waits for `ms` milliseconds, or until the caller disconnects.
     *
     * @throws Refusal UNAVAILABLE if too many calls are delayed
     */
    async wait(call: ReceivedCall, account: number | string, ms: number): Promise<void> {
      if (call.hasEnded) return;
      const own = ofAccounts.get(account) ?? 0;
      if (own >= SLOWED.ofAccount || all >= SLOWED.ofProcess) {
        throw unavailable("Too many calls are slowed down at the same time. Try again in a moment.");
      }
      ofAccounts.set(account, own + 1);
      all++;
      try {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          call.onEnd = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      } finally {
        all--;
        const left = ofAccounts.get(account)! - 1;
        if (left === 0) ofAccounts.delete(account);
        else ofAccounts.set(account, left);
      }
    },
  };
}
