import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { CreateGroup } from "../../db/group-commit.ts";
import type { Outcome } from "../../db/group-transaction.ts";
import type { DeliveryOutcome } from "./attempt-delivery.ts";
import { endDeliveries } from "./end-deliveries.ts";
import { lockWebhooks } from "./lock-webhooks.ts";
import { recordAttempt, type RecordDeps } from "./record-attempt.ts";
import { isSuccess } from "./send-webhook.ts";

/** Records what came of deliveries. */
export interface OutcomeRecorder {
  /**
   * Resolves once an outcome is recorded. While that fails, as when the database is away, it is
   * tried again; resolves too when the signal aborts.
   */
  record(outcome: DeliveryOutcome): Promise<void>;
}

/** How many outcomes one transaction records at most: without and with changes of webhooks. */
const MAX_ENDS = 200;
const MAX_CHANGES = 16;
/** How long to wait before trying again what could not be recorded, in milliseconds. */
const RETRY_MS = 1_000;

/** Whether recording an outcome also changes the webhook. */
export function changesWebhook({ attempt, wasFailing }: DeliveryOutcome): boolean {
  return attempt !== undefined && (wasFailing || !isSuccess(attempt.result));
}

/** Builds the recorder of one process; outcomes that come at the same time share a transaction. */
export function createOutcomeRecorder(
  createGroup: CreateGroup,
  log: Logger,
  deps: RecordDeps,
  signal: AbortSignal,
): OutcomeRecorder {
  const end = createGroup({
    name: "delivery_ends",
    maxMembers: MAX_ENDS,
    serializeBy: () => undefined,
    deadlineMs: () => Infinity,
    async work(tx, outcomes: readonly DeliveryOutcome[]) {
      await endDeliveries(tx, outcomes, deps.now());
      return outcomes.map(() => DONE);
    },
  });
  const change = createGroup({
    name: "delivery_failures",
    maxMembers: MAX_CHANGES,
    serializeBy: ({ delivery }: DeliveryOutcome) => delivery.webhook,
    deadlineMs: () => Infinity,
    async work(tx, outcomes: readonly DeliveryOutcome[]) {
      const webhooks = outcomes.map(({ delivery }) => delivery);
      await lockWebhooks(tx, webhooks, "no key update");
      for (const { delivery, attempt } of outcomes) {
        await recordAttempt(tx, delivery, attempt!, deps);
      }
      return outcomes.map(() => DONE);
    },
  });

  /** Whether the last outcome could not be recorded; many fail together. */
  let isFailing = false;
  function warnOnce(error: unknown): void {
    if (!isFailing) log.warn({ err: error }, "attempts at deliveries could not be recorded");
    isFailing = true;
  }

  return {
    async record(outcome) {
      const write = changesWebhook(outcome) ? change : end;
      while (!signal.aborted) {
        try {
          await write(outcome);
          isFailing = false;
          return;
        } catch (error) {
          warnOnce(error);
          await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
        }
      }
    },
  };
}

const DONE: Outcome<void> = { result: undefined };
