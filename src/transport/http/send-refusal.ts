import type { ServerResponse } from "node:http";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { errorBody, refusalHeaders } from "../../pipeline/refusals/refusal-body.ts";
import { REFUSAL_STATUS } from "../../pipeline/refusals/refusal-status.ts";
import { sendJson, type ExtraHeaders } from "./responses.ts";

/** Answers what is not a call with a refusal in the form of the JSON API. */
export function sendRefusal(
  response: ServerResponse,
  requestId: string,
  refusal: Refusal,
  extraHeaders: ExtraHeaders = [],
): void {
  const { httpStatus } = REFUSAL_STATUS[refusal.reason];
  const headers = [...extraHeaders, ...Object.entries(refusalHeaders(refusal)).flat()];
  sendJson(response, httpStatus, requestId, errorBody(refusal, requestId), headers);
}

/** Refuses a method that a path does not take; `allow` names those that it takes. */
export function refuseMethod(response: ServerResponse, requestId: string, allow: string): void {
  sendRefusal(response, requestId, methodNotAllowed(allow), ["allow", allow]);
}

/** The refusal of a method that a path does not take. */
export function methodNotAllowed(allow: string): Refusal {
  return refuse("METHOD_NOT_ALLOWED", `This path does not take that method; it takes ${allow}.`);
}
