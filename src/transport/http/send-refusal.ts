import type { ServerResponse } from "node:http";
import type { Refusal } from "../../domain/refusal.ts";
import { errorBody } from "../../pipeline/error-body.ts";
import { refusalHeaders } from "../../pipeline/refusal-headers.ts";
import { REFUSAL_STATUS } from "../../pipeline/refusal-status.ts";
import { sendJson } from "./send-json.ts";

/** Answers what is not a call with a refusal in the form of the JSON API. */
export function sendRefusal(response: ServerResponse, requestId: string, refusal: Refusal): void {
  const { httpStatus } = REFUSAL_STATUS[refusal.reason];
  const headers = Object.entries(refusalHeaders(refusal)).flat();
  sendJson(response, httpStatus, requestId, errorBody(refusal), headers);
}
