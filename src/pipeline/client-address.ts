import ipaddr from "ipaddr.js";

/** The address that a request comes from, by its peer and its `X-Forwarded-For`, joined by commas. */
export type ClientAddress = (peer: string | undefined, forwardedFor: string | undefined) => string;

/** As a proxy may write it: an address in brackets, or with a port behind it. */
const WRITTEN = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/;

/**
 * Builds the reading of `X-Forwarded-For`, to which each proxy appends the address that it was called
 * from: of those, from the right, the first that is not a trusted proxy's. What is further left anybody
 * can have made up, as all of it when the request does not come from a trusted proxy.
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

/** The first bits of an IPv6 address, which name a network of one subscriber (RFC 6177). */
const SUBSCRIBER_BITS = 64;

/**
 * Those whose calls are counted together: an address, or of IPv6 the /64, all addresses of which are one
 * subscriber's. Text that is no address stands for itself.
 */
export function addressBlock(text: string): string {
  // Spares what is IPv4 the reading.
  const address = text.includes(":") ? readAddress(text) : undefined;
  if (address === undefined) return text;
  if (address.kind() === "ipv4") return address.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${SUBSCRIBER_BITS}`).toString();
}

/** What is wrong with the addresses and networks (`10.0.0.0/8`) of proxies; undefined when nothing is. */
export function trustedProxiesFault(trusted: readonly string[]): string | undefined {
  const wrong = trusted.find((text) => readNetwork(text) === undefined);
  return wrong === undefined
    ? undefined
    : `${JSON.stringify(wrong)} is neither an IP address nor a network such as 10.0.0.0/8`;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [Address, bits: number];

/** Undefined when it is none. Reads `::ffff:10.0.0.1` as the `10.0.0.1` that it stands for. */
function readAddress(text: string): Address | undefined {
  const isWhole = ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
  return isWhole ? ipaddr.process(text) : undefined;
}

function readNetwork(text: string): Network | undefined {
  const [before = "", bits, ...rest] = text.split("/");
  const address = readAddress(before);
  if (address === undefined || rest.length > 0) return undefined;
  const most = address.kind() === "ipv4" ? 32 : 128;
  if (bits === undefined) return [address, most];
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? [address, Number(bits)] : undefined;
}

function isWithin(network: Network | undefined, address: Address): boolean {
  if (network === undefined || network[0].kind() !== address.kind()) return false;
  return (address as ipaddr.IPv4).match(network[0] as ipaddr.IPv4, network[1]);
}
