import { base64Decode } from "@bufbuild/protobuf/wire";
import type { Event } from "../../gen/shipments/v1/event_pb.js";
import { decodeEvent } from "./decode-event.ts";

/** Headers of a request: `Headers` as in `fetch`, or an object as in Node, with names in any letter case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>;

export interface WebhookOptions {
  /** Maximum age of a message, in milliseconds. Defaults to 300,000. */
  readonly toleranceMs?: number;
  /** Current time in milliseconds since the epoch. Defaults to the system clock. */
  readonly nowMs?: number;
}

/** Thrown if a message is not authentic. Respond with 401 or 400. */
export class WebhookError extends Error {
  readonly reason: "HEADER_MISSING" | "TOO_OLD" | "TOO_EARLY" | "SIGNATURE_WRONG" | "NOT_AN_EVENT";

  constructor(reason: WebhookError["reason"], message: string) {
    super(message);
    this.name = "WebhookError";
    this.reason = reason;
  }
}

/**
 * Verifies a webhook message (Standard Webhooks 1.0.0) and returns its event. Messages are delivered at
 * least once, in any order: recognize duplicates by `id` and sort by `position`.
 *
 *     const event = await verifyWebhook(secret, request.headers, await request.text());
 *
 * @param secrets the webhook's secret, `whsec_...`. During a rotation, both secrets. Empty secrets are ignored.
 * @param body the raw body. Do not parse and serialize it, because that changes it.
 * @throws WebhookError if the message is not authentic
 */
export async function verifyWebhook(
  secrets: string | readonly (string | undefined)[],
  headers: WebhookHeaders,
  body: string | Uint8Array,
  { toleranceMs = 300_000, nowMs = Date.now() }: WebhookOptions = {},
): Promise<Event> {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
    requireHeader(headers, `webhook-${name}`),
  ) as [string, string, string];
  const ageMs = nowMs - Number(timestamp) * 1_000;
  // The comparison is also false for NaN.
  if (!(ageMs <= toleranceMs)) throw new WebhookError("TOO_OLD", `The message's timestamp is ${timestamp}.`);
  if (ageMs < -toleranceMs) {
    throw new WebhookError("TOO_EARLY", `The message's timestamp is ${timestamp}, which is in the future.`);
  }
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  // Signs the raw bytes, because decoding would drop a byte order mark.
  const parts = [`${id}.${timestamp}.`, body as Uint8Array<ArrayBuffer>];
  const signed = await new Blob(parts).arrayBuffer();
  for (const secret of typeof secrets === "string" ? [secrets] : secrets) {
    if (secret && (await isSigned(secret, signed, signatures))) return parseEvent(text);
  }
  throw new WebhookError("SIGNATURE_WRONG", "No signature matches a secret of the webhook.");
}

function requireHeader(headers: WebhookHeaders, name: string): string {
  const found =
    typeof headers.get === "function"
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  // In `headersDistinct` of Node, each header is a list.
  const [value, other] = [found].flat();
  if (typeof value === "string" && other === undefined) return value;
  throw new WebhookError("HEADER_MISSING", `The header ${name} is missing.`);
}

/** Matches one signature of 32 bytes in base64. The header has one per secret, separated by spaces. */
const SIGNATURE = /(?<!\S)v1,([A-Za-z\d+/]{43}=)(?!\S)/g;

async function isSigned(secret: string, signed: ArrayBuffer, signatures: string): Promise<boolean> {
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const bytes = base64Decode(secret.replace("whsec_", ""));
  // The secret has a prefix but no key.
  if (bytes.length === 0) return false;
  const key = await crypto.subtle.importKey("raw", bytes, hmac, false, ["verify"]);
  for (const [, base64] of signatures.matchAll(SIGNATURE)) {
    // The comparison takes constant time.
    if (await crypto.subtle.verify("HMAC", key, base64Decode(base64!), signed)) return true;
  }
  return false;
}

function parseEvent(text: string): Event {
  try {
    return decodeEvent(JSON.parse(text));
  } catch (cause) {
    throw Object.assign(new WebhookError("NOT_AN_EVENT", "The body is not an event."), { cause });
  }
}
