import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { clip } from "../../domain/clip.ts";
import { duplicateMember } from "../../domain/duplicate-member.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import type { CallHeaders } from "../../pipeline/call-headers.ts";
import { describeJsonError } from "./json-error.ts";
import { bodyTooLarge, duplicateMemberError } from "../connect/unreadable-request.ts";

const JSON_TYPE = /^application\/([^;\s]+\+)?json\s*(;|$)/i;
const EMPTY = Buffer.alloc(0);
/** Maximum number of characters of a content type that a message quotes. */
const SHOWN_CHARACTERS = 100;

interface BodyBounds {
  readonly maxBytes: number;
  /** Called with the maximum size of the body before it is read. */
  readonly reserve: (bytes: number) => void;
}

/**
 * Reads a request body of up to `maxBytes` and calls `done`: synchronously if the body is empty, never
 * if the caller disconnects. Calls `failed` with BODY_TOO_LARGE if the body is longer.
 *
 * @throws Refusal BODY_TOO_LARGE if the headers already exceed the limit, and errors of `reserve`
 */
export function readBody(
  request: IncomingMessage,
  { contentLength, transferEncoding }: CallHeaders,
  { maxBytes, reserve }: BodyBounds,
  done: (body: Buffer) => void,
  failed: (refusal: Refusal) => void,
): void {
  if (contentLength === undefined && transferEncoding === undefined) return done(EMPTY);
  const announced = Number(contentLength ?? maxBytes);
  if (announced > maxBytes) throw bodyTooLarge(maxBytes);
  reserve(announced);
  const chunks: Buffer[] = [];
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) return void chunks.push(chunk);
    request.removeAllListeners("data");
    request.removeAllListeners("end");
    failed(bodyTooLarge(maxBytes));
  });
  request.on("end", () => done(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
}

/** Reads a small body without reserving memory. Never settles if the caller disconnects. */
export function readSmallBody(request: IncomingMessage, headers: CallHeaders, maxBytes: number): Promise<Buffer> {
  const bounds = { maxBytes, reserve: () => undefined };
  return new Promise((resolve, reject) => readBody(request, headers, bounds, resolve, reject));
}

/**
 * Parses a body as a JSON object. With `mayBeEmpty`, for a request without required fields, an empty
 * body or `{}` is an empty object regardless of the content type.
 *
 * @throws Refusal BODY_NOT_JSON if the headers declare another type, BODY_UNREADABLE if the body is not
 *   JSON, not UTF-8 or not an object, or if an object contains a member twice
 */
export function parseBody(body: Buffer, headers: CallHeaders, mayBeEmpty: boolean): object {
  if (mayBeEmpty && isEmpty(body)) return {};
  refuseOtherTypes(headers);
  if (!isUtf8(body)) throw unreadable("The body is not UTF-8.");
  const text = body.toString("utf8");
  const json = parseJson(text);
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw unreadable("The body must be a JSON object.");
  }
  const duplicate = duplicateMember(text, json);
  if (duplicate !== undefined) throw duplicateMemberError(duplicate);
  return json;
}

function isEmpty(body: Buffer): boolean {
  return body.length === 0 || (body.length <= 64 && /^\s*(\{\s*\})?\s*$/.test(body.toString("latin1")));
}

function refuseOtherTypes(headers: CallHeaders): void {
  const { contentType } = headers;
  if (contentType && contentType !== "application/json" && !JSON_TYPE.test(contentType)) {
    const sent = JSON.stringify(clip(contentType, SHOWN_CHARACTERS));
    throw notJson(`Content-Type is ${sent}. Send a JSON body with Content-Type: application/json.`);
  }
  assertNotEncoded(headers);
}

/** @throws Refusal BODY_NOT_JSON if the headers declare a compressed or encoded body */
export function assertNotEncoded({ contentEncoding }: CallHeaders): void {
  if (contentEncoding && contentEncoding.toLowerCase() !== "identity") {
    throw notJson("The body must be sent without Content-Encoding.");
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    if (text.trim() === "") throw unreadable("The body is empty; send a JSON object.");
    throw unreadable(`The body is not valid JSON: ${describeJsonError(text)}.`);
  }
}

function notJson(text: string): Refusal {
  return refuse("BODY_NOT_JSON", text, { subject: "body" });
}

function unreadable(text: string): Refusal {
  return refuse("BODY_UNREADABLE", text, { subject: "body" });
}
