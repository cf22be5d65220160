import { AsyncLocalStorage } from "node:async_hooks";
import type Stripe from "stripe";
import { loadOnce } from "../../../domain/load-once.ts";
import type { Mode } from "../../../domain/mode.ts";
import {
  type ModeAccess,
  ProviderRefused,
  type ProviderRefusalKind,
  ProviderUnanswered,
} from "../payment-provider.ts";
import type { UnknownStatus } from "./stripe-payment.ts";

/** How long one call may take with all of its requests, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** For how many own keys of workspaces a client is kept. */
const MAX_CLIENTS = 100;

export interface StripeCallOptions {
  /** Undefined for Stripe's own. */
  readonly apiUrl: string | undefined;
  /** The platform's account in each mode; undefined for none. */
  readonly platforms: Readonly<Partial<Record<Mode, StripePlatform | undefined>>>;
  /** The id of this installation: others may use the same account. */
  readonly installation: () => Promise<string>;
  /** Receives each call that has ended. */
  readonly onCall: (call: EndedCall) => void;
  /** Receives each status that this release does not know. */
  readonly onUnknownStatus: (unknown: UnknownStatus) => void;
  /** How long one call may take, in milliseconds; 10 s unless given. */
  readonly timeoutMs?: number | undefined;
}

interface StripePlatform {
  readonly secretKey: string;
  readonly webhookSecrets: readonly string[];
}

/** A call of a provider that has ended; nothing of it is a secret. */
export interface EndedCall {
  readonly mode: Mode;
  /** Such as `read_account`. */
  readonly operation: string;
  /** `unanswered` when it cannot be told what came of it. */
  readonly outcome: "ok" | "refused" | "unanswered";
  readonly durationMs: number;
  /** The id that Stripe gave the request; undefined when it did not answer. */
  readonly providerRequest: string | undefined;
  /** Why it was refused or unanswered, by Stripe's code or the name of the error. */
  readonly error: string | undefined;
}

/** Calls Stripe, as `createStripeCalls` says. */
export type StripeCall = ReturnType<typeof createStripeCalls>["call"];

/** Builds what calls Stripe. Its package is loaded with the first call: it takes 0.1 s and 40 MB. */
export function createStripeCalls({
  apiUrl,
  platforms,
  installation,
  onCall,
  timeoutMs = TIMEOUT_MS,
}: StripeCallOptions) {
  const library = loadOnce(() => import("stripe"));
  const clients = new Map<string, Stripe>();

  /** The client of the mode's platform, unless an account's own key is given. */
  async function clientFor({ mode, ownKey }: ModeAccess): Promise<Stripe> {
    const key = ownKey ?? platforms[mode]?.secretKey;
    if (key === undefined) throw new ProviderRefused("The platform has no account.", "other");
    const { default: StripeLibrary } = await library.get();
    const client =
      clients.get(key) ??
      new StripeLibrary(key, {
        ...optionsOf(apiUrl),
        httpClient: StripeLibrary.createFetchHttpClient(fetchInTime),
      });
    // The last that was used is the last to go.
    clients.delete(key);
    clients.set(key, client);
    if (clients.size > MAX_CLIENTS) clients.delete(clients.keys().next().value!);
    return client;
  }

  return {
    /**
     * Calls Stripe.
     *
     * @param work is given the id of this installation too
     * @throws ProviderUnanswered, ProviderRefused
     */
    async call<T>(
      operation: string,
      access: ModeAccess,
      work: (stripe: Stripe, installation: string) => Promise<T>,
    ): Promise<T> {
      const [stripe, id] = [await clientFor(access), await installation()];
      const startedMs = performance.now();
      const ended = (outcome: EndedCall["outcome"], error?: StripeFault) =>
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
        throw isRefused ? refused(fault) : new ProviderUnanswered(error);
      }
    },
  };
}

/** Ends the requests of the call that is running. */
const timeLimit = new AsyncLocalStorage<AbortSignal>();

/** The package's own limit is of each request, so that a call of several would have several. */
const fetchInTime: typeof fetch = (input, init) =>
  fetch(input, { ...init, signal: timeLimit.getStore()! }).catch((error: unknown) => {
    // By its code the package repeats a request whose connection the server had closed.
    throw (error as Error).cause ?? error;
  });

function optionsOf(apiUrl: string | undefined): Stripe.StripeConfig {
  const url = apiUrl === undefined ? undefined : new URL(apiUrl);
  return {
    // Calls are repeated by jobs, under the same idempotency key.
    maxNetworkRetries: 0,
    telemetry: false,
    ...(url && {
      protocol: url.protocol === "http:" ? "http" : "https",
      host: url.hostname,
      port: url.port || (url.protocol === "http:" ? 80 : 443),
    }),
  };
}

/** Why a key is none of a mode, as in "restricted_key must be ..."; undefined when it is. */
export function stripeKeyFault(key: string, mode: Mode): string | undefined {
  if (key.startsWith("live_", 3) === (mode === "live")) return undefined;
  return mode === "live"
    ? "must be a live key, which begins with rk_live_ or sk_live_; a test key is for the workspace's test mode."
    : "must be a test key, which begins with rk_test_ or sk_test_; a live key is for the workspace itself.";
}

/** The parts of a StripeError that are told from a distance, since its class is loaded late. */
interface StripeFault {
  readonly type?: string;
  readonly code?: string;
  readonly message?: string;
  readonly statusCode?: number;
  readonly requestId?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Whether Stripe said no: not so while it limits, conflicts with a call in flight, or fails. Nor when the
 * platform's key has ended: that says nothing of an account, and is over once operators set another.
 */
function isRefusal(fault: StripeFault, { ownKey }: ModeAccess): boolean {
  const { statusCode } = fault;
  if (isStoredFailure(fault)) return true;
  if (statusCode === 401 && ownKey === undefined) return false;
  return (
    statusCode !== undefined &&
    statusCode >= 400 &&
    statusCode < 500 &&
    !/409|429/.test(String(statusCode))
  );
}

/**
 * Whether this is how an earlier call with the same idempotency key failed: Stripe gives the same again
 * for a day, whatever it did.
 */
function isStoredFailure({ statusCode = 0, headers }: StripeFault): boolean {
  return statusCode >= 500 && headers?.["idempotent-replayed"] === "true";
}

function refused(fault: StripeFault): ProviderRefused {
  const { statusCode, code, message = "" } = fault;
  if (isStoredFailure(fault)) return new ProviderRefused("It failed.", "failed", code);
  return new ProviderRefused(withoutKeys(message), kindOf(statusCode, code), code);
}

function kindOf(statusCode: number | undefined, code: string | undefined): ProviderRefusalKind {
  if (statusCode === 401 || code === "account_invalid") return "revoked";
  return code === "amount_too_small" || code === "amount_too_large" ? "amount" : "other";
}

/** Stripe names keys in part. */
function withoutKeys(message: string): string {
  return message.replaceAll(/\b[rs]k_(test|live)_[^\s'"]+/g, "the key");
}
