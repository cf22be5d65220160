import { invalidRequest, StripeRefusal } from "./errors.ts";

/** An answer as it went out, or would have. */
export interface StoredAnswer {
  readonly status: number;
  readonly body: object;
  readonly requestId: string;
}

interface Entry {
  readonly path: string;
  readonly fingerprint: string;
  readonly startedMs: number;
  answer: StoredAnswer | undefined;
}

/** Stripe forgets keys after a day. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** The answers of one account's requests with an idempotency key. */
export class IdempotencyKeys {
  readonly #entries = new Map<string, Entry>();

  /**
   * Starts a request under a key, or gives the answer that it has had.
   *
   * @param request whose form may have its parameters in any order
   * @throws StripeRefusal when the key belongs to another request, or its first is still running
   */
  begin(
    key: string,
    { path, form }: { readonly path: string; readonly form: string },
    nowMs: number,
  ): StoredAnswer | undefined {
    const parameters = new URLSearchParams(form);
    parameters.sort();
    const fingerprint = parameters.toString();
    const entry = this.#entries.get(key);
    if (entry === undefined || nowMs - entry.startedMs >= KEPT_MS) {
      this.#entries.set(key, { path, fingerprint, startedMs: nowMs, answer: undefined });
      return undefined;
    }
    if (entry.path !== path || entry.fingerprint !== fingerprint) {
      const scope =
        entry.path === path
          ? "with the same parameters they were first used with"
          : `for the same endpoint they were first used for ('${path}' vs '${entry.path}')`;
      throw new StripeRefusal(400, {
        type: "idempotency_error",
        message:
          `Keys for idempotent requests can only be used ${scope}. Try using a key other than ` +
          `'${key}' if you meant to execute a different request.`,
      });
    }
    if (entry.answer === undefined) {
      throw invalidRequest(
        "There is currently another in-progress request using this Idempotent Key (that probably " +
          "means you submitted twice, and the other request is still going through): " +
          `${key}. Please try again later.`,
        { code: "idempotency_key_in_use", status: 409 },
      );
    }
    return entry.answer;
  }

  /** Keeps an answer, failures too; but of a request that came too often, nothing. */
  finish(key: string, answer: StoredAnswer): void {
    const entry = this.#entries.get(key);
    if (answer.status === 429) this.#entries.delete(key);
    else if (entry !== undefined) entry.answer = answer;
  }
}
