import ipaddr from "ipaddr.js";

/** Which addresses requests to a URL may go to: public ones or, when allowed, this machine's own. */
export type Reach = "public" | "loopback";

/** How far a URL's requests may reach, by its scheme; undefined when they may not be made at all. */
export function reachOf({ protocol }: URL, allowLoopbackHttp: boolean): Reach | undefined {
  if (protocol === "https:") return "public";
  return protocol === "http:" && allowLoopbackHttp ? "loopback" : undefined;
}

/**
 * Whether an IP address is within reach. Public means globally routable unicast: nothing private,
 * link-local, shared, reserved or multicast, nor such an IPv4 address inside an IPv6 address.
 */
export function isWithin(reach: Reach, address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // Reads ::ffff:10.0.0.1 as the 10.0.0.1 that it leads to.
  const parsed = ipaddr.process(address);
  if (reach === "loopback") return parsed.range() === "loopback";
  if (parsed.range() !== "unicast" || parsed.toString() === AZURE_PLATFORM) return false;
  return parsed.kind() === "ipv4" || parsed.match(GLOBAL_IPV6);
}

/**
 * Where every virtual machine of Azure reaches its host, with certificates and settings of the
 * machine. Other clouds have theirs at addresses that are no public unicast.
 */
const AZURE_PLATFORM = "168.63.129.16";

/** The part of IPv6 that is assigned for global unicast. */
const GLOBAL_IPV6 = ipaddr.parseCIDR("2000::/3");

/** The IP address that a URL's host is by itself; undefined when the host is a name. */
export function literalAddress({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return ipaddr.isValid(host) ? host : undefined;
}

const NOT_BY_HTTP =
  "must begin with https://; http:// leads to this machine alone, with WEBHOOK_ALLOW_LOOPBACK_HTTP=true";

/** As of the field, so that what is answered can be sent again. */
const MAX_LENGTH = 2_000;

/**
 * What is wrong with a URL that events are to be sent to, as in "url must be ..."; undefined when nothing is. The
 * addresses of a host name are not looked up: they can change, and so are checked at each connection. By http, where it
 * is allowed, only names under `localhost` and loopback addresses are accepted.
 */
export function webhookUrlFault(text: string, allowLoopbackHttp: boolean): string | undefined {
  // Parsing drops tabs and newlines, so that what is read of the address is not where it leads.
  if (/\p{Cc}/u.test(text)) return "must not hold control characters";
  const url = URL.parse(text);
  if (url === null)
    return "must be a URL that begins with https://, such as https://example.com/hook";
  const reach = reachOf(url, allowLoopbackHttp);
  if (reach === undefined)
    return url.protocol === "http:" ? NOT_BY_HTTP : "must begin with https://";
  if (url.username !== "" || url.password !== "") return "must not hold a user name or password";
  if (url.hash !== "") return "must not have a fragment";
  if (url.href.length > MAX_LENGTH) {
    return `must have at most ${MAX_LENGTH} characters with its special ones encoded`;
  }
  const literal = literalAddress(url);
  const isLocalName = /(^|\.)localhost\.?$/.test(url.hostname);
  if (reach === "loopback") {
    const isLoopback = literal === undefined ? isLocalName : isWithin(reach, literal);
    return isLoopback ? undefined : NOT_BY_HTTP;
  }
  if (isLocalName || (literal !== undefined && !isWithin(reach, literal))) {
    return "must lead to a public address";
  }
  return undefined;
}
