import type { Answer } from "../run/verdict.ts";
import { transact } from "./database.ts";

const TIMEOUT_MS = 30_000;
/** Minimum upload speed, in bytes per millisecond. Slower uploads time out. */
const MIN_BYTES_PER_MS = 5;

/** Maximum clock difference that is ignored, because the header has a resolution of one second. */
const CLOCK_TOLERANCE_MS = 2_000;

/** Calls the service, and updates the clock offset from the response. Returns `undefined` without a response. */
export async function call(path: string, body?: object, idempotencyKey?: string): Promise<Answer | undefined> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const timeoutMs = TIMEOUT_MS + (text?.length ?? 0) / MIN_BYTES_PER_MS;
  try {
    const response = await fetch(path, {
      method: text === undefined ? "GET" : "POST",
      cache: "no-store",
      credentials: "same-origin",
      redirect: "error",
      // Without `Sec-Fetch-Site`, as on plain HTTP, the service recognizes a GET of its own page by the referrer.
      referrerPolicy: "same-origin",
      signal: AbortSignal.timeout(timeoutMs),
      ...(text !== undefined && { body: text }),
      headers: {
        ...(text !== undefined && { "content-type": "application/json" }),
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      },
    });
    // Before the body, which takes seconds on a slow network.
    await learnClock(response.headers.get("date"));
    const parsed: Answer["body"] | null = await response.json().catch(() => undefined);
    const retryAfter = Number(response.headers.get("retry-after"));
    return {
      status: response.status,
      body: parsed ?? undefined,
      retryAfterMs: retryAfter > 0 ? retryAfter * 1_000 : undefined,
    };
  } catch {
    return undefined;
  }
}

async function learnClock(date: string | null): Promise<void> {
  if (date === null) return;
  const offsetMs = Date.parse(date) - Date.now();
  const learned = Math.abs(offsetMs) > CLOCK_TOLERANCE_MS ? offsetMs : 0;
  await transact("readwrite", async (tx) => {
    const known = (await tx.get("clockOffsetMs")) ?? 0;
    if (Math.abs(known - learned) > CLOCK_TOLERANCE_MS) tx.set("clockOffsetMs", learned);
  });
}

/** Runs a function while no other tab and no service worker of this device runs one. */
export async function exclusively<T>(work: () => Promise<T>): Promise<T> {
  // Browsers have locks only on HTTPS. Without them, idempotency keys still prevent repeated effects.
  const locks = navigator.locks as LockManager | undefined;
  if (locks === undefined) return work();
  return (await locks.request("courier", work)) as T;
}
