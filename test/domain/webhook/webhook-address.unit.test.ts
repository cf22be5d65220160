import { expect, test } from "vitest";
import { isWithin, webhookUrlError } from "../../../src/domain/webhook/webhook-address.ts";

const NO_URL = "must be a URL that begins with https://, such as https://example.com/hook";

test.for([
  "0.0.0.0",
  "10.0.0.1",
  "100.64.0.1",
  "100.100.100.200",
  "127.0.0.1",
  "168.63.129.16",
  "169.254.169.254",
  "172.16.0.1",
  "192.0.0.192",
  "192.0.2.1",
  "192.168.0.1",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:10.0.0.1",
  "::ffff:127.0.0.1",
  "::ffff:168.63.129.16",
  "::a00:1",
  "4000::1",
  "64:ff9b::a00:1",
  "64:ff9b::a83f:8110",
  "2002:a00:1::",
  "fc00::1",
  "fd00:ec2::254",
  "fd20:ce::254",
  "fe80::1",
  "ff02::1",
  "2001:db8::1",
  "not an address",
])("%s is not a public address", (address) => {
  expect(isWithin("public", address)).toBe(false);
});

test.for(["8.8.8.8", "168.63.129.17", "93.184.215.14", "2606:4700::1111", "::ffff:8.8.8.8"])(
  "%s is a public address, and not a loopback address",
  (address) => {
    expect([isWithin("public", address), isWithin("loopback", address)]).toEqual([true, false]);
  },
);

const PUBLIC = "must resolve to a public address";
const CONTROLS = "must not contain control characters";
const HTTPS = "must begin with https://";
const NOT_BY_HTTP =
  "must begin with https://; http:// is allowed only for this machine, with WEBHOOK_ALLOW_LOOPBACK_HTTP=true";

test.for([
  ["https://example.org/hook", undefined],
  ["https://example.org:8443/hook?a=b", undefined],
  ["https://8.8.8.8/", undefined],
  ["https://10.0.0.1/", PUBLIC],
  ["https://[::1]/", PUBLIC],
  ["https://[::ffff:10.0.0.1]/", PUBLIC],
  ["https://168.63.129.16/", PUBLIC],
  ["https://0x7f.1/", PUBLIC],
  ["https://2130706433/", PUBLIC],
  ["https://localhost/", PUBLIC],
  ["https://a.localhost./", PUBLIC],
  ["http://example.org/", NOT_BY_HTTP],
  ["http://127.0.0.1/", NOT_BY_HTTP],
  ["ftp://example.org/", HTTPS],
  ["javascript:alert(1)", HTTPS],
  ["https://user:secret@example.org/", "must not contain a user name or password"],
  ["https://example.org/#part", "must not have a fragment"],
  ["https://example\t.org/", CONTROLS],
  ["https://example.org/a\nb", CONTROLS],
  ["https://example.org/a\0b", CONTROLS],
  ["https://example.org/a\u0085b", CONTROLS],
  ["example.org", NO_URL],
  ["https://", NO_URL],
] as const)("checks whether the URL %s is allowed: %s", ([url, error]) => {
  expect(webhookUrlError(url, false)).toBe(error);
});

test("limits the length of a URL after its special characters are encoded", () => {
  const withParcels = (count: number) => `https://example.org/${"\u{1f4e6}".repeat(count)}`;
  expect(webhookUrlError(withParcels(165), false)).toBeUndefined();
  expect(webhookUrlError(withParcels(166), false)).toBe("must have at most 2000 characters after encoding");
});

test("allows http to this machine only, if at all", () => {
  expect(webhookUrlError("http://a.localhost./", true)).toBeUndefined();
  expect(webhookUrlError("http://[::1]:3000/", true)).toBeUndefined();
  expect(webhookUrlError("http://example.com/", true)).toBe(NOT_BY_HTTP);
  expect(webhookUrlError("http://localhost.example.com/", true)).toBe(NOT_BY_HTTP);
  expect(webhookUrlError("http://127.0.0.1:3000/", true)).toBeUndefined();
  expect(webhookUrlError("http://localhost:3000/", true)).toBeUndefined();
  expect(webhookUrlError("http://8.8.8.8/", true)).toBe(NOT_BY_HTTP);
  expect(webhookUrlError("https://127.0.0.1/", true)).toBe(PUBLIC);
});
