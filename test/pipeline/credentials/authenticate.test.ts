import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { createSecretKey } from "../../../src/domain/secret-key.ts";
import { readCallHeaders } from "../../../src/pipeline/call-headers.ts";
import { createMemoryLimiter } from "../../../src/pipeline/bounds/rate-limiter.ts";
import { createAdmit } from "../../../src/pipeline/stages/admit.ts";
import { createAuthenticate } from "../../../src/pipeline/credentials/authenticate.ts";
import { createLookups } from "../../../src/pipeline/credentials/lookups.ts";
import { receiveCall } from "../../../src/pipeline/call.ts";
import type { Rpc } from "../../../src/pipeline/rpc.ts";
import { COVERED_ROUTE, RPC_ROUTE } from "../../support/bookings.ts";
import { errorBody } from "../../support/endpoints.ts";
import { eventually } from "../../support/eventually.ts";
import { revokeKey, rotateKeys } from "../../support/platform.ts";
import { rawHttp } from "../../support/raw-http.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { startService } from "../../support/service.ts";

const QUOTE = "/v1/shipments/quote";

/** Active keys of two workspaces, a well-formed key that is unknown, and an active key with a typo. */
interface Keys {
  readonly good: string;
  readonly other: string;
  readonly unknown: string;
  readonly typo: string;
}

const service = await startService();
const [{ apiKey: good }, { apiKey: other }] = [await service.addWorkspace(), await service.addWorkspace()];
const keys = { good, other, unknown: createSecretKey("shp_"), typo: withTypo(good) };

/** Changes one random character of a key. */
function withTypo(key: string): string {
  return key.slice(0, 10) + (key[10] === "A" ? "B" : "A") + key.slice(11);
}

/** Returns the credential headers of a request. A name can occur twice. */
type Credentials = (keys: Keys) => [name: string, value: string][];

const ACCEPTED: Record<string, Credentials> = {
  bearer: ({ good }) => [["authorization", `Bearer ${good}`]],
  "bearer in any case": ({ good }) => [["Authorization", `bEARER ${good}`]],
  "bearer after several spaces": ({ good }) => [["authorization", `Bearer   ${good}`]],
  "x-api-key": ({ good }) => [["x-api-key", good]],
  "X-API-KEY": ({ good }) => [["X-API-KEY", good]],
  "both, equal": ({ good }) => [
    ["authorization", `Bearer ${good}`],
    ["x-api-key", good],
  ],
  "one twice, equal": ({ good }) => [
    ["x-api-key", good],
    ["x-api-key", good],
  ],
};

const MISSING = "is missing";
const NOT_BEARER = "does not have the form `Bearer shp_...`";
const DIFFERENT = "contains two different keys";
const NO_KEY = "is not an API key of this service";
const OPERATORS = "is an operator key, but this call requires a workspace key";
const UNKNOWN = "is not known, was revoked or has expired";

const REFUSED: Record<string, [wrong: string, credentials: Credentials]> = {
  "no credential": [MISSING, () => []],
  "an unknown key": [UNKNOWN, ({ unknown }) => [["x-api-key", unknown]]],
  "a typo": [NO_KEY, ({ typo }) => [["x-api-key", typo]]],
  "an operator's key": [OPERATORS, () => [["x-api-key", createSecretKey("sho_")]]],
  "a key without its prefix": [NO_KEY, ({ good }) => [["x-api-key", good.slice(4)]]],
  "a key with another prefix": [NO_KEY, ({ good }) => [["x-api-key", `shq${good.slice(3)}`]]],
  "a key with extra text": [NO_KEY, ({ good }) => [["x-api-key", `${good}A`]]],
  "an empty key": [NO_KEY, () => [["x-api-key", ""]]],
  "a bearer in the wrong header": [NO_KEY, ({ good }) => [["x-api-key", `Bearer ${good}`]]],
  "a list of keys": [NO_KEY, ({ good }) => [["x-api-key", `${good}, ${good}`]]],
  "a bare key as authorization": [NOT_BEARER, ({ good }) => [["authorization", good]]],
  "an empty bearer": [NOT_BEARER, () => [["authorization", "Bearer"]]],
  "basic authentication": [NOT_BEARER, () => [["authorization", "Basic c2hwOng="]]],
  "two words after bearer": [NOT_BEARER, ({ good }) => [["authorization", `Bearer ${good} ${good}`]]],
  "a valid key and basic authentication": [
    NOT_BEARER,
    ({ good }) => [
      ["authorization", "Basic c2hwOng="],
      ["x-api-key", good],
    ],
  ],
  "two different valid keys, in both headers": [
    DIFFERENT,
    ({ good, other }) => [
      ["authorization", `Bearer ${good}`],
      ["x-api-key", other],
    ],
  ],
  "two different valid keys, in one header": [
    DIFFERENT,
    ({ good, other }) => [
      ["x-api-key", good],
      ["x-api-key", other],
    ],
  ],
  "a valid key and an empty one": [
    DIFFERENT,
    ({ good }) => [
      ["authorization", `Bearer ${good}`],
      ["x-api-key", ""],
    ],
  ],
};

const messageOf = (wrong: string) =>
  `The credential ${wrong}. Send the workspace's API key as Authorization: Bearer shp_... or X-Api-Key: shp_....`;

describe("on the HTTP server", () => {
  const quote = (credentials: [string, string][]) => {
    const body = JSON.stringify(COVERED_ROUTE);
    const lines = credentials.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    return rawHttp(
      service.httpUrl,
      `POST ${QUOTE} HTTP/1.1\r\nHost: x\r\n${lines}Content-Length: ${body.length}\r\n\r\n${body}`,
    );
  };

  test.each(Object.entries(ACCEPTED))("accepts a credential: %s", async (_, credentials) => {
    expect((await quote(credentials(keys))).status).toBe(200);
  });

  test.each(Object.entries(REFUSED))("refuses a credential: %s", async (_, [wrong, credentials]) => {
    const { status, headers, body } = await quote(credentials(keys));
    expect([status, body]).toEqual([401, errorBody(messageOf(wrong))]);
    expect(headers.get("www-authenticate")).toBe("Bearer");
  });
});

describe("on the gRPC server", () => {
  const quote = (credentials: [string, string][]) => {
    const client = createClient(ShipmentService, createGrpcTransport({ baseUrl: service.grpcUrl }));
    return client.quoteShipment(RPC_ROUTE, { headers: new Headers(credentials) });
  };
  // Excludes cases with repeated headers, because this client joins them into a list.
  const once = (name: string) => !/twice|in one header/.test(name);

  test.each(Object.entries(ACCEPTED).filter(([name]) => once(name)))(
    "accepts a credential: %s",
    async (_, credentials) => {
      expect((await quote(credentials(keys))).covered).toBe(true);
    },
  );

  test.each(Object.entries(REFUSED).filter(([name]) => once(name)))(
    "refuses a credential: %s",
    async (_, [wrong, credentials]) => {
      expect(await rpcError(quote(credentials(keys)))).toEqual(
        rpcRefusal("Unauthenticated", "CREDENTIAL_REFUSED", messageOf(wrong)),
      );
    },
  );
});

test("a response never repeats the credential", async () => {
  const { text } = await service.request(QUOTE, { apiKey: keys.typo, body: {} });
  expect(text).not.toContain(keys.typo.slice(4, 12));
});

test("refuses a mistyped key without a query", async () => {
  const lookedUp: string[] = [];
  const lookup = {
    recall: () => undefined,
    find: async (key: string): Promise<undefined> => void lookedUp.push(key),
  };
  const admitCall = createAdmit({
    authenticate: createAuthenticate({
      keys: { workspace: lookup, operator: lookup },
      sessions: { find: async () => undefined, findCourier: async () => undefined },
      lookups: createLookups(),
      isHttps: false,
    }),
    inFlightLimit: { assertCapacity: () => undefined },
    onRateLimited: () => undefined,
    limiter: createMemoryLimiter(() => 0),
  });
  const admit = async (key: string) =>
    admitCall(
      { limitClass: "quote", audience: "workspace" } as Rpc,
      receiveCall(readCallHeaders(["X-Api-Key", key]), {}),
    );
  await expect(admit(keys.typo)).rejects.toThrow(messageOf(NO_KEY));
  await expect(admit(keys.unknown)).rejects.toThrow(messageOf(UNKNOWN));
  expect(lookedUp).toEqual([keys.unknown]);
});

test("stores only the SHA-256 and the last four characters of a key", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const [row] = await service.app.em
    .fork()
    .execute<{ row: string; last4: string }[]>(
      "select last4, to_jsonb(api_key)::text as row from api_key where workspace_id = ?",
      [id],
    );
  expect(row?.last4).toBe(apiKey.slice(-4));
  expect(row?.row).not.toContain(apiKey.slice(4, -4));
});

describe("an active key stops working", () => {
  const statusWith = async (apiKey: string) => (await service.request(QUOTE, { apiKey, body: COVERED_ROUTE })).status;
  const refused = (apiKey: string) => eventually("the key's refusal", async () => (await statusWith(apiKey)) === 401);

  test("after it is revoked, and the workspace's other keys keep working", async () => {
    const { id, apiKey } = await service.addWorkspace();
    const second = await rotateKeys(service.app.em, id, 3_600);
    expect([await statusWith(apiKey), await statusWith(second)]).toEqual([200, 200]);
    await revokeKey(service.app.em, id, apiKey);
    await refused(apiKey);
    expect(await statusWith(second)).toBe(200);
  });

  test("after it is rotated, and the new key works immediately", async () => {
    const { id, apiKey } = await service.addWorkspace();
    expect(await statusWith(apiKey)).toBe(200);
    const next = await rotateKeys(service.app.em, id, 0);
    expect(await statusWith(next)).toBe(200);
    await refused(apiKey);
  });

  test("after the overlap of a rotation", async () => {
    const { id, apiKey } = await service.addWorkspace();
    await rotateKeys(service.app.em, id, 1);
    await refused(apiKey);
  });
});
