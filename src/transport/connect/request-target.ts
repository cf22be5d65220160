import type { IncomingMessage } from "node:http";

export function splitUrl({ url = "" }: { readonly url?: string | undefined }): [path: string, query: string] {
  const mark = url.indexOf("?");
  return mark === -1 ? [url, ""] : [url.slice(0, mark), url.slice(mark + 1)];
}

/** Returns the origin of a request with a valid host. Empty for HTTP/1.0 without a host. */
export function ownAddress({ headers: { host } }: IncomingMessage): string {
  return host === undefined ? "" : `http://${host.toLowerCase()}`;
}

/** Matches a host with an optional port (RFC 9110, 7.2; RFC 3986, 3.2.2). */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

export function isHost(host: string | undefined): boolean {
  return host !== undefined && HOST.test(host) && URL.canParse(`http://${host}`);
}

/**
 * Describes the error in a request's `Host` header. The header must occur once and contain a host (RFC
 * 9112, 3.2). It is optional in HTTP/1.0. Returns `undefined` if it is valid.
 */
export function hostError(request: IncomingMessage): string | undefined {
  const { host } = request.headers;
  if (host === undefined) {
    return request.httpVersion === "1.1" ? "The Host header is missing." : undefined;
  }
  if (!isHost(host)) return "The Host header is not valid.";
  return isOnce(request.rawHeaders) ? undefined : "The request has more than one Host header.";
}

/** Whether there is exactly one `Host` header. `rawHeaders` alternates names and values. */
function isOnce(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts === 1;
}
