import type { Verdict } from "../../domain/rate-limit.ts";
import { refuse, unavailable, type Refusal } from "../../domain/refusal.ts";
import { SLOWED } from "../bounds/limits.ts";
import { MAX_ATTEMPTS } from "../../domain/webhook/webhook-schedule.ts";
import type { AnyCall, Caller, DeliveryFaults, ReceivedCall } from "../call.ts";
import type { Rpc, StreamRpc } from "../rpc.ts";
import { deadlineError } from "./deadline.ts";

/**
 * Has a call in test mode meet the faults that its `Simulate` header asks for, before its body is read;
 * gives a promise where it is slowed down. What comes with the answer is noted in the record of the call, as
 * is that the header of another call is ignored.
 *
 * @throws Refusal FIELD_INVALID, and what is asked for: UNAVAILABLE, RATE_LIMITED, IDEMPOTENCY_KEY_IN_USE;
 *   DEADLINE_EXCEEDED when it is slowed down for longer than it has
 */
export type Simulate = (
  rpc: Rpc | StreamRpc,
  call: ReceivedCall,
  caller: Caller,
) => void | Promise<void>;

type MakeRefusal = (call: ReceivedCall) => Refusal;

interface Faults {
  readonly said: string;
  readonly refusal: MakeRefusal | undefined;
  readonly slowMs: number;
  readonly losesAnswer: boolean;
  readonly deliveryFaults: DeliveryFaults | undefined;
}

export function createSimulate(): Simulate {
  const slowed = createSlowedCalls();

  async function slowDown(faults: Faults, call: ReceivedCall, caller: Caller): Promise<void> {
    const leftMs = (call.deadlineMs ?? Infinity) - performance.now();
    await slowed.wait(call, caller.account, Math.min(faults.slowMs, Math.max(0, leftMs)));
    // Not by the clock: a timer may go off a moment early, and the call would be answered.
    if (leftMs <= faults.slowMs) throw deadlineError();
    if (faults.refusal !== undefined) throw faults.refusal(call);
  }

  return (rpc, call, caller) => {
    const { simulate } = call.headers;
    if (simulate === undefined) return;
    if (caller.audience !== "workspace" || !caller.test) {
      call.simulation = { said: "ignored", losesAnswer: false };
      return;
    }
    const faults = parseFaults(simulate, "readOnly" in rpc && !rpc.readOnly);
    const { said, losesAnswer, deliveryFaults } = faults;
    call.simulation = { said, losesAnswer, deliveryFaults };
    if (faults.slowMs > 0) return slowDown(faults, call, caller);
    if (faults.refusal !== undefined) throw faults.refusal(call);
  };
}

/** Whether the answer to a call is to be lost: that of the work, and not when it is repeated. */
export function isAnswerLost({ received, replayed }: AnyCall): boolean {
  return received.simulation?.losesAnswer === true && !replayed;
}

/** What is left where a limit is simulated, so that the headers of the answer agree with it. */
const USED_UP: Verdict = { allowed: false, remaining: 0, resetSeconds: 1 };

const REFUSALS: Readonly<Record<string, MakeRefusal>> = {
  unavailable: () => unavailable("The service is unavailable, as Simulate asks; try again."),
  rate_limited: (call) => {
    call.rateLimit = { ...call.rateLimit!, verdict: USED_UP };
    return refuse("RATE_LIMITED", "The workspace has used up its calls, as Simulate asks.", {
      retryAfterSeconds: USED_UP.resetSeconds,
    });
  },
  in_flight: () => refuse("IDEMPOTENCY_KEY_IN_USE", { retryAfterSeconds: 1 }),
};

const MAX_SLOW_MS = 10_000;

/** What calls that write may ask for besides. */
const OF_WRITES = ["in_flight", "duplicate_webhook", "reorder_webhooks", "fail_webhook"];

function parseFaults(text: string, isWrite: boolean): Faults {
  const parts = text.split(",").map((it) => it.trim());
  const asked = new Map(parts.map(parseFault));
  // So that what the answer says of them is short.
  if (asked.size < parts.length) throw simulateError();
  if (!isWrite && OF_WRITES.some((name) => asked.has(name))) throw simulateError();
  const refusing = [...asked.keys()].find((name) => Object.hasOwn(REFUSALS, name));
  const failures = asked.get("fail_webhook") ?? null;
  const duplicated = asked.has("duplicate_webhook");
  const reordered = asked.has("reorder_webhooks");
  const isOfDeliveries = duplicated || reordered || failures !== null;
  return {
    said: parts.join(", "),
    refusal: refusing === undefined ? undefined : REFUSALS[refusing],
    slowMs: asked.get("slow") ?? 0,
    losesAnswer: asked.has("lose_answer"),
    deliveryFaults: isOfDeliveries ? { duplicated, reordered, failures } : undefined,
  };
}

/** The largest number that a fault may have; undefined for those that have none. */
const LARGEST: Readonly<Record<string, number | undefined>> = {
  ...Object.fromEntries(Object.keys(REFUSALS).map((name) => [name, undefined])),
  slow: MAX_SLOW_MS,
  lose_answer: undefined,
  duplicate_webhook: undefined,
  reorder_webhooks: undefined,
  fail_webhook: MAX_ATTEMPTS,
};

function parseFault(text: string): readonly [name: string, count: number | undefined] {
  const [, name = "", digits] = /^([a-z_]+)(?:=(\d{1,5}))?$/.exec(text) ?? [];
  const largest = LARGEST[name];
  const isKnown =
    Object.hasOwn(LARGEST, name) && (largest === undefined) === (digits === undefined);
  const count = digits === undefined ? undefined : Number(digits);
  if (!isKnown || (count ?? 0) > (largest ?? 0)) throw simulateError();
  return [name, count];
}

function simulateError(): Refusal {
  return refuse(
    "FIELD_INVALID",
    `Simulate must be one or several, by commas and each once, of unavailable, rate_limited, slow=MS (up to ${MAX_SLOW_MS}), lose_answer and, for calls that write, in_flight, duplicate_webhook, reorder_webhooks, fail_webhook=N (up to ${MAX_ATTEMPTS}).`,
    { subject: "simulate" },
  );
}

function createSlowedCalls() {
  const ofAccounts = new Map<number | string, number>();
  let all = 0;
  return {
    /** Waits, or until the caller has gone. @throws Refusal UNAVAILABLE when too many are held up already */
    async wait(call: ReceivedCall, account: number | string, ms: number): Promise<void> {
      if (call.hasEnded) return;
      const own = ofAccounts.get(account) ?? 0;
      if (own >= SLOWED.ofAccount || all >= SLOWED.ofProcess) {
        throw unavailable(
          "Too many calls are slowed down at the same time; try again in a moment.",
        );
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
