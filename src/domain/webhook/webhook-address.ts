import ipaddr from "ipaddr.js";

/** Addresses that requests may target: public addresses, or loopback addresses if enabled. */
export type Reach = "public" | "loopback";

/** Returns the addresses that a URL's scheme permits. Returns `undefined` if the scheme is not allowed. */
export function reachOf({ protocol }: URL, allowLoopbackHttp: boolean): Reach | undefined {
  if (protocol === "https:") return "public";
  return protocol === "http:" && allowLoopbackHttp ? "loopback" : undefined;
}

/**
 * Whether an IP address belongs to a permitted range. Public means globally routable unicast: not
 * private, link-local, shared, reserved or multicast, even if embedded in an IPv6 address.
 */
export function isWithin(reach: Reach, address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // Converts ::ffff:10.0.0.1 to 10.0.0.1.
  const parsed = ipaddr.process(address);
  if (reach === "loopback") return parsed.range() === "loopback";
  if (parsed.range() !== "unicast" || parsed.toString() === AZURE_PLATFORM) return false;
  return parsed.kind() === "ipv4" || parsed.match(GLOBAL_IPV6);
}

/**
 * Azure's platform endpoint, a public address that exposes certificates and settings of the virtual
 * machine. Other clouds use non-public addresses.
 */
const AZURE_PLATFORM = "168.63.129.16";

const GLOBAL_IPV6 = ipaddr.parseCIDR("2000::/3");

/** Returns the IP address in a URL, or `undefined` if the host is a name. */
export function literalAddress({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return ipaddr.isValid(host) ? host : undefined;
}

const NOT_BY_HTTP =
  "must begin with https://; http:// is allowed only for this machine, with WEBHOOK_ALLOW_LOOPBACK_HTTP=true";

/**
 * Maximum length of a normalized URL. Equals the limit of the request field, so that a returned URL
 * can be sent again.
 */
const MAX_LENGTH = 2_000;

/**
 * Returns the error in a webhook URL as a phrase that follows the field name, such as "must be ...". Returns
 * `undefined` if the URL is valid. Host names are not resolved here, because their addresses can change. Each
 * connection checks them. If http is allowed, it is accepted only for loopback addresses and names under `localhost`.
 */
export function webhookUrlError(text: string, allowLoopbackHttp: boolean): string | undefined {
  // URL parsing drops tabs and newlines, so the displayed URL would differ from the requested one.
  if (/\p{Cc}/u.test(text)) return "must not contain control characters";
  const url = URL.parse(text);
  if (url === null) return "must be a URL that begins with https://, such as https://example.com/hook";
  const reach = reachOf(url, allowLoopbackHttp);
  if (reach === undefined) return url.protocol === "http:" ? NOT_BY_HTTP : "must begin with https://";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  if (url.hash !== "") return "must not have a fragment";
  if (url.href.length > MAX_LENGTH) {
    return `must have at most ${MAX_LENGTH} characters after encoding`;
  }
  const literal = literalAddress(url);
  const isLocalName = /(^|\.)localhost\.?$/.test(url.hostname);
  if (reach === "loopback") {
    const isLoopback = literal === undefined ? isLocalName : isWithin(reach, literal);
    return isLoopback ? undefined : NOT_BY_HTTP;
  }
  if (isLocalName || (literal !== undefined && !isWithin(reach, literal))) {
    return "must resolve to a public address";
  }
  return undefined;
}
