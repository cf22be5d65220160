import type { IncomingMessage } from "node:http";
import { createHostCheck } from "../connect/request-target.ts";

/**
 * Tells what is wrong with a request's `Host`, which must come once and be a host (RFC 9112, section
 * 3.2); undefined when nothing is. HTTP/1.0 does without it.
 */
export function createHostFault(): (request: IncomingMessage) => string | undefined {
  const isHost = createHostCheck();
  return ({ headers: { host }, httpVersion, rawHeaders }) => {
    if (host === undefined) {
      return httpVersion === "1.1" ? "The Host header is missing." : undefined;
    }
    if (!isHost(host)) return "The Host header is not a host.";
    return isOnce(rawHeaders) ? undefined : "The Host header comes twice.";
  };
}

/** `rawHeaders` are names and values in turn. */
function isOnce(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts === 1;
}
