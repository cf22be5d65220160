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
    if (bearer === undefined) throw credentialRefused("is not of the form `Bearer shp_...`");
    if (key !== undefined && key !== bearer) throw credentialRefused("names two different keys");
    key = bearer;
  }
  for (const value of headers.apiKeys) {
    if (key !== undefined && key !== value) throw credentialRefused("names two different keys");
    key = value;
  }
  if (key === undefined) throw credentialRefused("is missing");
  return key;
}

/**
 * Makes sure that a text can be a key at all, so that a typo is told without a look-up.
 *
 * @throws Refusal CREDENTIAL_REFUSED
 */
export function requireKeyForm(key: string): void {
  if (!isWellFormedApiKey(key)) throw credentialRefused("is not an API key of this service");
}

/**
 * The refusal of a credential; says what is wrong with it and how to give a good one, and never
 * repeats it.
 */
export function credentialRefused(wrong: string): Refusal {
  return refuse(
    "CREDENTIAL_REFUSED",
    `The credential ${wrong}. Send the workspace's API key as Authorization: Bearer shp_... or X-Api-Key: shp_....`,
  );
}
