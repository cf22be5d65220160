import { UNKNOWN_KEYS } from "../bounds/limits.ts";
import type { Audience, Caller, KeyLookups, ReceivedCall, SessionLookup } from "../call.ts";
import { assertSameSite, COURIER_COOKIE, SESSION_COOKIE } from "./session-cookie.ts";
import { assertKeyForm, carriesKey, credentialError, IN_QUERY, readKey, UNKNOWN_KEY } from "./read-key.ts";
import { createFailedAttempts } from "./failed-attempts.ts";
import type { Lookups } from "./lookups.ts";

/**
 * Authenticates a call by its secret key, or by its session if it has no key. Synchronous if the key is
 * cached. Records the credential.
 *
 * @throws Refusal CREDENTIAL_REFUSED, RATE_LIMITED (unknown credentials from the address), CROSS_SITE,
 *   NOT_A_MEMBER, NOT_AN_OPERATOR, FIELD_INVALID, or UNAVAILABLE (too many unknown credentials at
 *   once). Rejects with the database's error if the database is unreachable
 */
export type Authenticate = (audience: Audience, call: ReceivedCall) => Caller | Promise<Caller>;

export function createAuthenticate(options: {
  readonly keys: KeyLookups;
  readonly sessions: SessionLookup;
  readonly lookups: Lookups;
  readonly isHttps: boolean;
}): Authenticate {
  const { keys, sessions, lookups, isHttps } = options;
  const attempts = createFailedAttempts(UNKNOWN_KEYS, "Too many unknown keys from this address");

  async function lookup(
    audience: Audience,
    call: ReceivedCall,
    credential: string,
    find: () => Promise<Caller | undefined>,
  ): Promise<Caller> {
    const { address } = call;
    // Invalid sessions count like unknown keys, because both require a lookup.
    const found = await lookups.find(credential, { attempts, address, find });
    if (found === undefined) throw credentialError(UNKNOWN_KEY, audience);
    return found;
  }

  return (audience, call) => {
    const { headers } = call;
    // Members send their workspace with each call, so a call without one comes from a courier.
    const isOfCourier = audience === "workspace" && headers.workspace === undefined && !carriesKey(headers);
    const courier = isOfCourier ? COURIER_COOKIE.read(headers.cookie, isHttps) : undefined;
    if (courier !== undefined) {
      call.credential = courier;
      assertSameSite(headers, isHttps);
      return lookup(audience, call, courier, () => sessions.findCourier(courier));
    }
    const session = carriesKey(headers) ? undefined : SESSION_COOKIE.read(headers.cookie, isHttps);
    if (session !== undefined) {
      call.credential = session;
      assertSameSite(headers, isHttps);
      const find = () => sessions.find(session, audience, headers.workspace);
      return lookup(audience, call, session, find);
    }
    if (call.hasKeyInQuery && !carriesKey(headers)) throw credentialError(IN_QUERY, audience);
    const key = readKey(headers, audience);
    call.credential = key;
    if (audience === "person") throw credentialError("is not a session", audience);
    const known = keys[audience].recall(key);
    if (known !== undefined) return known;
    assertKeyForm(key, audience);
    return lookup(audience, call, key, () => keys[audience].find(key));
  };
}
