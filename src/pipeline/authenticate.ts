import type { ClientAddress } from "../domain/client-address.ts";
import { Refusal } from "../domain/refusal.ts";
import type { Audience, Caller, KeyLookups, ReceivedCall, SessionLookup } from "./call.ts";
import { assertSameSite } from "./assert-same-site.ts";
import { assertKeyForm, carriesKey, credentialError, readKey, UNKNOWN_KEY } from "./read-key.ts";
import { createFailedAttempts } from "./failed-attempts.ts";

/**
 * Finds out who makes a call, at once where the key is in memory: by the secret key that it carries,
 * or, if it carries none, by the session of somebody who has signed in. Notes the credential in the
 * call's record.
 *
 * @throws Refusal CREDENTIAL_REFUSED, RATE_LIMITED (unknown credentials from the address), CROSS_SITE,
 * NOT_A_MEMBER, NOT_AN_OPERATOR, FIELD_INVALID; rejects with the database's error when it cannot be
 * asked
 */
export type Authenticate = (audience: Audience, call: ReceivedCall) => Caller | Promise<Caller>;

/** How often an address may send well-formed keys that turn out to be unknown: each costs a look-up. */
const UNKNOWN_KEYS = { rate: 100, burst: 1_000 };

/** Builds the step that authenticates calls. */
export function createAuthenticate({
  keys,
  sessions,
  clientAddress,
}: {
  readonly keys: KeyLookups;
  readonly sessions: SessionLookup;
  readonly clientAddress: ClientAddress;
}): Authenticate {
  const unknownKeys = createFailedAttempts(() => performance.now(), UNKNOWN_KEYS, "unknown keys");

  async function lookUp(
    audience: Audience,
    call: ReceivedCall,
    find: () => Promise<Caller | undefined>,
  ): Promise<Caller> {
    const address = clientAddress(call.peer.remoteAddress, call.headers.forwardedFor);
    unknownKeys.assertFew(address);
    try {
      const found = await find();
      if (found !== undefined) return found;
      throw credentialError(UNKNOWN_KEY, audience);
    } catch (error) {
      // A session that opens nothing of what it is sent for costs a look-up as an unknown key does.
      if (error instanceof Refusal) unknownKeys.count(address);
      throw error;
    }
  }

  return (audience, call) => {
    const { headers } = call;
    const { session } = headers;
    if (session !== undefined && !carriesKey(headers)) {
      call.key = session;
      assertSameSite(headers);
      return lookUp(audience, call, () => sessions.find(session, audience, headers.workspace));
    }
    const key = readKey(headers, audience);
    call.key = key;
    if (audience === "person") throw credentialError("is not a session", audience);
    const known = keys[audience].recall(key);
    if (known !== undefined) return known;
    assertKeyForm(key, audience);
    return lookUp(audience, call, () => keys[audience].find(key));
  };
}
