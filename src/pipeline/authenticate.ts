import { isWellFormedApiKey } from "../domain/api-key.ts";
import { refuse, type Refusal } from "../domain/refusal.ts";
import type { CallHeaders } from "./call-headers.ts";

const BEARER = /^bearer +(\S+)$/i;

/** What is wrong with a key that no working key equals. */
export const UNKNOWN_KEY = "is not known, was revoked or has expired";

/**
 * The one API key a request carries, in `Authorization: Bearer` or `X-Api-Key`; both only if equal.
 *
 * @throws Refusal CREDENTIAL_REFUSED when there is none, or there are two different ones.
 */
export function readApiKey(headers: CallHeaders): string {
  let key: string | undefined;
  for (const value of headers.authorization) {
    const bearer = BEARER.exec(value)?.[1];
    if (bearer === undefined) throw credentialError("is not of the form `Bearer shp_...`");
    if (key !== undefined && key !== bearer) throw credentialError("names two different keys");
    key = bearer;
  }
  for (const value of headers.apiKeys) {
    if (key !== undefined && key !== value) throw credentialError("names two different keys");
    key = value;
  }
  if (key === undefined) throw credentialError("is missing");
  return key;
}

/**
 * Checks the form and the checksum of a key, so that a typo is refused without a query.
 *
 * @throws Refusal CREDENTIAL_REFUSED
 */
export function assertKeyForm(key: string): void {
  if (!isWellFormedApiKey(key)) throw credentialError("is not an API key of this service");
}

/** The refusal of a credential: what is wrong with it and what to send. Never repeats the credential. */
export function credentialError(wrong: string): Refusal {
  return refuse(
    "CREDENTIAL_REFUSED",
    `The credential ${wrong}. Send the workspace's API key as Authorization: Bearer shp_... or X-Api-Key: shp_....`,
  );
}
