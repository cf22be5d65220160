import { setTimeout as sleep } from "node:timers/promises";
import { BOOKING } from "./bookings.ts";
import type { Endpoints } from "./endpoints.ts";

/** Delay before a client retries a booking, in milliseconds. */
const RETRY_MS = 50;

/** Concurrent clients that each book one shipment after another. */
export interface BookingLoad {
  /** References of acknowledged shipments by idempotency key. */
  readonly acknowledged: ReadonlyMap<string, string>;
  /** Number of responses other than 201 by status. `lost` counts connections that broke without a response. */
  readonly refused: ReadonlyMap<string, number>;
  /** Times of acknowledgement, on the clock of `performance.now()`. */
  readonly acknowledgedAtMs: readonly number[];
  /** Stops new bookings. Resolves when all started ones are acknowledged, rejects if one cannot be. */
  stop(): Promise<void>;
}

/**
 * Starts clients that share some services. Each client retries a booking with the same idempotency
 * key until it is acknowledged.
 */
export function startBookingLoad(
  services: readonly Pick<Endpoints, "request">[],
  apiKey: string,
  clients = 8,
): BookingLoad {
  const acknowledged = new Map<string, string>();
  const refused = new Map<string, number>();
  let isStopping = false;
  const acknowledgedAtMs: number[] = [];

  async function book(key: string, service: Pick<Endpoints, "request">): Promise<boolean> {
    const body = { ...BOOKING, customer_email: `${key}@example.org` };
    const headers = { "idempotency-key": key };
    const answer = await service.request("/v1/shipments", { apiKey, body, headers }).catch(() => undefined);
    if (answer?.status === 201) {
      acknowledged.set(key, answer.body.data.reference);
      acknowledgedAtMs.push(performance.now());
      return true;
    }
    const outcome = answer === undefined ? "lost" : `${answer.status} ${answer.body?.message}`;
    refused.set(outcome, (refused.get(outcome) ?? 0) + 1);
    return false;
  }

  const working = Array.from({ length: clients }, async (_, client) => {
    for (let number = 0; !isStopping; number++) {
      const key = `client-${client}-booking-${number}`;
      for (let tries = 0; !(await book(key, services[(client + tries) % services.length]!));) {
        if (++tries === 1_000) throw new Error(`${key} was not acknowledged after 1,000 attempts`);
        await sleep(RETRY_MS);
      }
    }
  });
  return {
    acknowledged,
    refused,
    acknowledgedAtMs,
    async stop() {
      isStopping = true;
      await Promise.all(working);
    },
  };
}
