import type { IncomingMessage } from "node:http";
import { readCallHeaders } from "../../pipeline/call-headers.ts";

/** The id of a request that is no call: its own, or a new one. */
export function requestIdOf(request: IncomingMessage): string {
  return readCallHeaders(request.rawHeaders).requestId;
}
