import ipaddr from "ipaddr.js";

/**
 * Returns the client address of a request from the peer address and the `X-Forwarded-For` values, joined by commas.
 */
export type ClientAddress = (peer: string | undefined, forwardedFor: string | undefined) => string;

/** Matches the formats that proxies write: an address in brackets, or with a port. */
const WRITTEN = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/;

/**
 * Creates a function that reads `X-Forwarded-For`, to which each proxy appends its client's address. The function
 * returns the rightmost address that is not a trusted proxy. Callers can forge the addresses to the left of it. If the
 * peer is not a trusted proxy, they can forge all addresses, so the function returns the peer's address.
 */
export function createClientAddress(trusted: readonly string[]): ClientAddress {
  if (trusted.length === 0) return (peer) => peer ?? "";
  const networks = trusted.map(readNetwork);
  const isProxy = (text: string) => {
    const address = readAddress(text);
    return networks.some((network) => address !== undefined && isWithin(network, address));
  };
  return (peer = "", forwardedFor = "") => {
    let address = peer;
    for (const text of forwardedFor.split(",").toReversed()) {
      if (!isProxy(address)) break;
      const [, bracketed, beforePort] = WRITTEN.exec(text.trim()) ?? [];
      const before = bracketed ?? beforePort ?? text.trim();
      if (readAddress(before) === undefined) break;
      address = before;
    }
    return address;
  };
}

/** Prefix length of a subscriber's IPv6 network (RFC 6177). */
const SUBSCRIBER_BITS = 64;

/**
 * Returns the block whose calls are counted together: an IPv4 address or an IPv6 /64, which belongs to
 * one subscriber. Returns other text unchanged.
 */
export function addressBlock(text: string): string {
  // IPv4 addresses need no parsing.
  const address = text.includes(":") ? readAddress(text) : undefined;
  if (address === undefined) return text;
  if (address.kind() === "ipv4") return address.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${SUBSCRIBER_BITS}`).toString();
}

/**
 * Describes the error in a list of proxy addresses and networks (`10.0.0.0/8`). Returns `undefined` if
 * the list is valid.
 */
export function trustedProxiesError(trusted: readonly string[]): string | undefined {
  const wrong = trusted.find((text) => readNetwork(text) === undefined);
  return wrong === undefined
    ? undefined
    : `${JSON.stringify(wrong)} is neither an IP address nor a network such as 10.0.0.0/8`;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [Address, bits: number];

/** Parses an address, with `::ffff:10.0.0.1` as `10.0.0.1`. Returns `undefined` if the address is invalid. */
function readAddress(text: string): Address | undefined {
  const isWhole = ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
  return isWhole ? ipaddr.process(text) : undefined;
}

function readNetwork(text: string): Network | undefined {
  const [before = "", bits, ...rest] = text.split("/");
  const address = readAddress(before);
  if (address === undefined || rest.length > 0) return undefined;
  const maxBits = address.kind() === "ipv4" ? 32 : 128;
  if (bits === undefined) return [address, maxBits];
  return /^\d{1,3}$/.test(bits) && Number(bits) <= maxBits ? [address, Number(bits)] : undefined;
}

function isWithin(network: Network | undefined, address: Address): boolean {
  if (network === undefined || network[0].kind() !== address.kind()) return false;
  return (address as ipaddr.IPv4).match(network[0] as ipaddr.IPv4, network[1]);
}
