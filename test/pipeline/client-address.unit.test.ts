import { describe, expect, test } from "vitest";
import { createClientAddress, trustedProxiesError } from "../../src/pipeline/client-address.ts";

const PROXY = "10.0.0.7";

describe("the client address of a request through a trusted proxy is", () => {
  const clientAddress = createClientAddress(["10.0.0.0/8", "2001:db8::1"]);

  test.each<[what: string, peer: string, forwardedFor: string | undefined, address: string]>([
    ["the proxy if it sends no header", PROXY, undefined, PROXY],
    ["the proxy's caller", PROXY, "192.0.2.1", "192.0.2.1"],
    ["the last address before the proxies", PROXY, "192.0.2.1, 10.1.2.3", "192.0.2.1"],
    ["not an address that the caller forged", PROXY, "203.0.113.9, 192.0.2.1", "192.0.2.1"],
    ["the first one if all are proxies", PROXY, "10.1.1.1, 10.1.2.3", "10.1.1.1"],
    ["an address without its port", PROXY, "192.0.2.1:4711", "192.0.2.1"],
    ["an IPv6 address without its brackets and port", PROXY, "[2001:db8::9]:4711", "2001:db8::9"],
    ["the proxy that sent an invalid address", PROXY, "192.0.2.1, unknown", PROXY],
    ["the proxy that sent nothing after a comma", PROXY, "192.0.2.1,", PROXY],
    ["a proxy's own IPv6 address", "2001:db8::1", "192.0.2.1", "192.0.2.1"],
    ["a proxy on a socket for both IPs", "::ffff:10.0.0.7", "192.0.2.1", "192.0.2.1"],
    ["its peer if that is not a proxy", "192.0.2.4", "192.0.2.1", "192.0.2.4"],
    ["its peer if only its notation is in a proxy's network", "2001:db8::2", "::1", "2001:db8::2"],
  ])("%s", (_, peer, forwardedFor, address) => {
    expect(clientAddress(peer, forwardedFor)).toBe(address);
  });
});

test("without trusted proxies, the client address is the peer, whatever the request's headers", () => {
  expect(createClientAddress([])("10.0.0.7", "192.0.2.1")).toBe("10.0.0.7");
});

test.each(["10.0.0.0/33", "10.0.0", "10", "::/129", "10.0.0.0/", "10.0.0.0/8/8", "proxy", "/8"])(
  "%s is not an address or network of proxies",
  (text) => {
    expect(trustedProxiesError(["127.0.0.1", text])).toBe(
      `${JSON.stringify(text)} is neither an IP address nor a network such as 10.0.0.0/8`,
    );
  },
);

test("accepts addresses and networks of both families", () => {
  expect(trustedProxiesError(["127.0.0.1", "10.0.0.0/8", "::1", "fd00::/8"])).toBeUndefined();
});
