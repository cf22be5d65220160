import { AsyncLocalStorage } from "node:async_hooks";
import type Stripe from "stripe";
import { loadOnce } from "../../../domain/load-once.ts";
import type { Mode } from "../../../domain/mode.ts";
import {
  type ModeAccess,
  ProviderRefused,
  type ProviderRefusalKind,
  ProviderUnavailable,
} from "../payment-provider.ts";
import type { UnknownStatus } from "./stripe-payment.ts";

/** Default timeout of a call, including all of its requests, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** Maximum number of cached Stripe clients. Each workspace with its own key needs one. */
const MAX_CLIENTS = 100;

export interface StripeCallOptions {
  /** `undefined` for Stripe's own URL. */
  readonly apiUrl: string | undefined;
  /** The platform's account in each mode, if any. */
  readonly platforms: Readonly<Partial<Record<Mode, StripePlatform | undefined>>>;
  /** Id of this installation. Several installations can share an account. */
  readonly installation: () => Promise<string>;
  readonly onCall: (call: CompletedCall) => void;
  /** Called for each status that this release does not know. */
  readonly onUnknownStatus: (unknown: UnknownStatus) => void;
  /** Timeout of a call, in milliseconds. Default: 10 s. */
  readonly timeoutMs?: number | undefined;
}

interface StripePlatform {
  readonly secretKey: string;
  readonly webhookSecrets: readonly string[];
}

/** A completed call to Stripe, without secrets. */
export interface CompletedCall {
  readonly mode: Mode;
  /** Name of the operation, such as `read_account`. */
  readonly operation: string;
  /** `unanswered` if the result is unknown. */
  readonly outcome: "ok" | "refused" | "unanswered";
  readonly durationMs: number;
  /** Stripe's request id. `undefined` for successful calls and without a response. */
  readonly providerRequest: string | undefined;
  /** Stripe's error code, or the name of the error. */
  readonly error: string | undefined;
}

export type StripeCall = ReturnType<typeof createStripeCalls>["call"];

/**
 * Creates the function that calls Stripe. Loads Stripe's package on the first call, because loading takes 0.1 s and 40
 * MB.
 */
export function createStripeCalls({
  apiUrl,
  platforms,
  installation,
  onCall,
  timeoutMs = TIMEOUT_MS,
}: StripeCallOptions) {
  const library = loadOnce(() => import("stripe"));
  const clients = new Map<string, Stripe>();

  async function clientFor({ mode, ownKey }: ModeAccess): Promise<Stripe> {
    const key = ownKey ?? platforms[mode]?.secretKey;
    if (key === undefined) throw new ProviderRefused("The platform has no Stripe account for this mode.", "other");
    const { default: StripeLibrary } = await library.get();
    const client =
      clients.get(key) ??
      new StripeLibrary(key, {
        ...optionsOf(apiUrl),
        httpClient: StripeLibrary.createFetchHttpClient(fetchInTime),
      });
    clients.delete(key);
    clients.set(key, client);
    if (clients.size > MAX_CLIENTS) clients.delete(clients.keys().next().value!);
    return client;
  }

  return {
    /**
     * Calls Stripe.
     *
     * @param work receives the client and the id of this installation
     * @throws ProviderUnavailable, ProviderRefused
     */
    async call<T>(
      operation: string,
      access: ModeAccess,
      work: (stripe: Stripe, installation: string) => Promise<T>,
    ): Promise<T> {
      const [stripe, id] = [await clientFor(access), await installation()];
      const startedMs = performance.now();
      const ended = (outcome: CompletedCall["outcome"], error?: StripeFault) =>
        onCall({
          mode: access.mode,
          operation,
          outcome,
          durationMs: performance.now() - startedMs,
          providerRequest: error?.requestId,
          error: error?.code ?? error?.type,
        });
      try {
        const result = await timeLimit.run(AbortSignal.timeout(timeoutMs), () => work(stripe, id));
        ended("ok");
        return result;
      } catch (error) {
        const fault = error as StripeFault;
        const isRefused = isRefusal(fault, access);
        ended(isRefused ? "refused" : "unanswered", fault);
        throw isRefused ? refused(fault) : new ProviderUnavailable(error);
      }
    },
  };
}

/** Abort signal of the current call, for all of its requests. */
const timeLimit = new AsyncLocalStorage<AbortSignal>();

/** Fetches with the timeout of the call. The package's own timeout applies to each request separately. */
const fetchInTime: typeof fetch = (input, init) =>
  fetch(input, { ...init, signal: timeLimit.getStore()! }).catch((error: unknown) => {
    // The package recognizes closed connections, which it retries, by the error code of the cause.
    throw (error as Error).cause ?? error;
  });

function optionsOf(apiUrl: string | undefined): Stripe.StripeConfig {
  const url = apiUrl === undefined ? undefined : new URL(apiUrl);
  return {
    // Background workers retry calls with the same idempotency key.
    maxNetworkRetries: 0,
    telemetry: false,
    ...(url && {
      protocol: url.protocol === "http:" ? "http" : "https",
      host: url.hostname,
      port: url.port || (url.protocol === "http:" ? 80 : 443),
    }),
  };
}

/** Returns why a key is invalid in a mode, or `undefined` if it is valid. The text follows "restricted_key". */
export function stripeKeyFault(key: string, mode: Mode): string | undefined {
  if (key.startsWith("live_", 3) === (mode === "live")) return undefined;
  return mode === "live"
    ? "must be a live key, which begins with rk_live_ or sk_live_. Use a test key in the workspace's test mode."
    : "must be a test key, which begins with rk_test_ or sk_test_. Use a live key in live mode.";
}

/** Properties of StripeError that are used. The class is loaded lazily and not available for `instanceof`. */
interface StripeFault {
  readonly type?: string;
  readonly code?: string;
  readonly message?: string;
  readonly statusCode?: number;
  readonly requestId?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Whether Stripe rejected the call, so that a retry cannot succeed. False for rate limits, conflicts with a call in
 * flight, and server errors. Also false for an expired platform key, which operators can replace.
 */
function isRefusal(fault: StripeFault, { ownKey }: ModeAccess): boolean {
  const { statusCode } = fault;
  if (isStoredFailure(fault)) return true;
  if (statusCode === 401 && ownKey === undefined) return false;
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500 && !/409|429/.test(String(statusCode));
}

/** Whether Stripe replayed the failure of an earlier call with the same idempotency key. Stripe does so for a day. */
function isStoredFailure({ statusCode = 0, headers }: StripeFault): boolean {
  return statusCode >= 500 && headers?.["idempotent-replayed"] === "true";
}

function refused(fault: StripeFault): ProviderRefused {
  const { statusCode, code, message = "" } = fault;
  if (isStoredFailure(fault)) return new ProviderRefused("An earlier attempt failed.", "failed", code);
  return new ProviderRefused(withoutKeys(message), kindOf(statusCode, code), code);
}

function kindOf(statusCode: number | undefined, code: string | undefined): ProviderRefusalKind {
  if (statusCode === 401 || code === "account_invalid") return "revoked";
  return code === "amount_too_small" || code === "amount_too_large" ? "amount" : "other";
}

/** Removes keys from a message. Stripe's messages contain parts of keys. */
function withoutKeys(message: string): string {
  return message.replaceAll(/\b[rs]k_(test|live)_[^\s'"]+/g, "the key");
}
