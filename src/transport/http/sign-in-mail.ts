import { refuse } from "../../domain/refusal.ts";
import type { FailedAttempts } from "../../pipeline/credentials/failed-attempts.ts";
import { createTurns } from "../../pipeline/credentials/look-ups.ts";

/** Has a link sent to an email, if it is an account's. Tells nothing of whether it is. */
export type MailSignIn = (email: string) => Promise<void>;

const MAX_AT_ONCE = 2;
/** What a caller can type; RFC 5321 allows 254 characters, and accounts have these letters alone. */
const EMAIL = /^[\x21-\x7e]+@[\x21-\x7e]+$/;
const MAX_EMAIL = 254;

/**
 * Builds what notes that somebody wants a link by mail. Each request counts against its address as an
 * attempt that failed, whoever it is for.
 *
 * @throws Refusal FIELD_INVALID for what is no email, RATE_LIMITED, and UNAVAILABLE
 */
export function createMailRequests(
  mail: MailSignIn,
  attempts: FailedAttempts,
): (email: string, address: string) => Promise<void> {
  const inTurn = createTurns(MAX_AT_ONCE);
  return async (typed, address) => {
    const email = typed.trim();
    if (!EMAIL.test(email) || email.length > MAX_EMAIL) {
      throw refuse("FIELD_INVALID", "Type an email such as ada@example.org.", { subject: "email" });
    }
    await attempts.make(address, async () => {
      await inTurn(() => mail(email));
      return undefined;
    });
  };
}
