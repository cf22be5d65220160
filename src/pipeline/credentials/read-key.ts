import { isWellFormedKey } from "../../domain/secret-key.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import type { Audience } from "../call.ts";
import type { CallHeaders } from "../call-headers.ts";

const BEARER = /^bearer +(\S+)$/i;

export const IN_QUERY = "was sent in the URL, which logs store. Revoke it if it is active";

export const UNKNOWN_KEY = "is not known, was revoked or has expired";

const NOT_BEARER: Readonly<Record<Audience, string>> = {
  workspace: "does not have the form `Bearer shp_...`",
  operator: "does not have the form `Bearer sho_...`",
  person: "is not a session",
};

const SEND: Readonly<Record<Audience, string>> = {
  workspace: "Send the workspace's API key as Authorization: Bearer shp_... or X-Api-Key: shp_....",
  operator: "Send the operator's key as Authorization: Bearer sho_... or X-Api-Key: sho_....",
  person: "Sign in on the dashboard.",
};

/** Key prefix of the other audience, and the error for such a key. */
const OTHER_AUDIENCE: Readonly<Record<Audience, readonly [prefix: string, wrong: string] | undefined>> = {
  workspace: ["sho_", "is an operator key, but this call requires a workspace key"],
  operator: ["shp_", "is a workspace key, but this call requires an operator key"],
  person: undefined,
};

export function carriesKey({ authorization, apiKeys }: CallHeaders): boolean {
  return authorization.length > 0 || apiKeys.length > 0;
}

/**
 * Returns the secret key of a request. If both headers are present, they must contain the same key.
 *
 * @throws Refusal CREDENTIAL_REFUSED
 */
export function readKey(headers: CallHeaders, audience: Audience): string {
  let key: string | undefined;
  for (const value of headers.authorization) {
    const bearer = BEARER.exec(value)?.[1];
    if (bearer === undefined) throw credentialError(NOT_BEARER[audience], audience);
    if (key !== undefined && key !== bearer) throw credentialError("contains two different keys", audience);
    key = bearer;
  }
  for (const value of headers.apiKeys) {
    if (key !== undefined && key !== value) throw credentialError("contains two different keys", audience);
    key = value;
  }
  if (key === undefined) throw credentialError("is missing", audience);
  return key;
}

/** Checks prefix, format and checksum, so that wrong keys and typos are refused without a query. */
export function assertKeyForm(key: string, audience: Audience): void {
  const [prefix, wrong] = OTHER_AUDIENCE[audience] ?? [];
  if (wrong !== undefined && key.startsWith(prefix!)) throw credentialError(wrong, audience);
  if (!isWellFormedKey(key)) throw credentialError("is not an API key of this service", audience);
}

/**
 * Returns the refusal of a credential. The message describes the error and the expected form, and never
 * contains the credential.
 */
export function credentialError(wrong: string, audience: Audience): Refusal {
  return refuse("CREDENTIAL_REFUSED", `The credential ${wrong}. ${SEND[audience]}`);
}
