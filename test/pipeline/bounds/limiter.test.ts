import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, onTestFinished, test } from "vitest";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { COVERED_ROUTE } from "../../support/bookings.ts";
import { createDatabase } from "../../support/database.ts";
import type { RequestOptions } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import { setLimit } from "../../support/platform.ts";
import { hasRedis, startRedis } from "../../support/redis.ts";
import { PROTOCOLS, rpcClient } from "../../support/rpc-client.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { startReplica, startService, type TestService } from "../../support/service.ts";

/** Service with a frozen clock, so that no bucket refills. */
const service = await startService({ outside: { monotonicMs: () => 0 } });

const read = (it: TestService, apiKey: string) => it.request("/v1/workspace", { apiKey });

const FIVE = { rate: 1, burst: 5 };

test("a workspace can make exactly as many calls as its limit allows", async () => {
  const { id, apiKey } = await service.addWorkspace();
  await setLimit(service.app.em, id, "read", { rate: 1, burst: 200 });
  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) {
    const answers = Array.from({ length: 100 }, () => read(service, apiKey));
    statuses.push(...(await Promise.all(answers)).map(({ status }) => status));
  }
  const counts = Map.groupBy(statuses, (status) => status);
  expect([counts.get(200)?.length, counts.get(429)?.length]).toEqual([200, 100]);
});

test("every response has the number of remaining calls, and a refused call has the retry delay", async () => {
  const { id, apiKey } = await service.addWorkspace();
  await setLimit(service.app.em, id, "read", FIVE);
  for (let left = 4; left >= 0; left--) {
    const { status, headers } = await read(service, apiKey);
    expect(status).toBe(200);
    expect(headers.get("ratelimit-policy")).toBe('"read";q=5;w=5');
    expect(headers.get("ratelimit")).toMatch(new RegExp(`^"read";r=${left};t=[1-5]$`));
  }
  const { status, headers, body } = await read(service, apiKey);
  expect({ status, body }).toEqual({
    status: 429,
    body: { message: "The workspace has used up its read calls. Try again in 1 s.", errors: {} },
  });
  expect(headers.get("retry-after")).toBe("1");
  expect(headers.get("ratelimit-policy")).toBe('"read";q=5;w=5');
  expect(headers.get("ratelimit")).toBe('"read";r=0;t=1');
});

const QUOTE = "/v1/shipments/quote";
const REFUSED: Record<string, [status: number, path: string, options: RequestOptions]> = {
  "a body that is not JSON": [400, QUOTE, { body: "{" }],
  "an unknown shipment": [404, "/v1/shipments/SHP-000000000000", {}],
  "a body that is too large": [413, QUOTE, { body: " ".repeat(65_537) }],
  "another content type": [415, QUOTE, { body: "a=b", headers: { "content-type": "text/plain" } }],
  "missing fields": [422, QUOTE, { body: {} }],
  "an unknown parameter": [422, "/v1/shipments?limit=1", {}],
  "a simulated outage": [503, QUOTE, { body: {}, headers: { simulate: "unavailable" } }],
  "a file with an invalid filter": [422, "/v1/shipments/export?status=nope", {}],
};

const { apiKey: testKey } = (await service.addWorkspace()).twin;

describe("the error of a counted call has the number of remaining calls", () => {
  const policy = (headers: Headers) => [headers.get("ratelimit-policy"), headers.get("ratelimit")];

  test.each(Object.entries(REFUSED))("%s", async (_, [expected, path, options]) => {
    const { status, headers } = await service.request(path, { ...options, apiKey: testKey });
    expect([status, ...policy(headers)]).toEqual([
      expected,
      expect.stringMatching(/^"(quote|read)";q=\d+;w=2$/),
      expect.stringMatching(/^"(quote|read)";r=\d+;t=\d+$/),
    ]);
  });

  test("for a simulated rate limit, with none left", async () => {
    const headers = { simulate: "rate_limited" };
    const answer = await service.request(QUOTE, { apiKey: testKey, body: COVERED_ROUTE, headers });
    expect([answer.status, ...policy(answer.headers)]).toEqual([429, '"quote";q=20000;w=2', '"quote";r=0;t=1']);
  });

  test("but not for a call without a key", async () => {
    const { status, headers } = await service.request(QUOTE, { body: COVERED_ROUTE });
    expect([status, ...policy(headers)]).toEqual([401, null, null]);
  });

  test.each(Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[])("over %s", async (protocol) => {
    const client = rpcClient(ShipmentService, PROTOCOLS[protocol], service, testKey);
    const call = (headers: Record<string, string>) =>
      client.getShipment({ shipment: "SHP-000000000000" }, { headers }).catch(ConnectError.from);
    const missing = (await call({})) as ConnectError;
    expect([missing.code, ...policy(missing.metadata)]).toEqual([
      Code.NotFound,
      '"read";q=10000;w=2',
      expect.stringMatching(/^"read";r=\d+;t=\d+$/),
    ]);
    const limited = (await call({ simulate: "rate_limited" })) as ConnectError;
    expect([limited.code, ...policy(limited.metadata)]).toEqual([
      Code.ResourceExhausted,
      '"read";q=10000;w=2',
      '"read";r=0;t=1',
    ]);
  });
});

test("gRPC and JSON calls count towards one limit, with the same headers", async () => {
  const { id, apiKey } = await service.addWorkspace();
  await setLimit(service.app.em, id, "read", FIVE);
  const { listShipments } = service.grpcClient(apiKey);
  for (let i = 0; i < 5; i++) await (i % 2 === 0 ? read(service, apiKey) : listShipments({}));
  expect(await rpcError(listShipments({}))).toMatchObject({
    code: "ResourceExhausted",
    message: "The workspace has used up its read calls. Try again in 1 s.",
    details: {
      ErrorInfo: { reason: "RATE_LIMITED", domain: "shipments.v1" },
      RetryInfo: { retryDelay: "1s" },
    },
  });
});

describe("a workspace at its limit", () => {
  test("can still make calls of another class", async () => {
    const { id, apiKey } = await service.addWorkspace();
    await setLimit(service.app.em, id, "read", { rate: 1, burst: 1 });
    await read(service, apiKey);
    expect((await read(service, apiKey)).status).toBe(429);
    const quote = await service.request("/v1/shipments/quote", { apiKey, body: COVERED_ROUTE });
    expect(quote.status).toBe(200);
    expect(quote.headers.get("ratelimit-policy")).toBe('"quote";q=20000;w=2');
  });

  test("does not limit other workspaces", async () => {
    const [loud, quiet] = [await service.addWorkspace(), await service.addWorkspace()];
    await setLimit(service.app.em, loud.id, "read", { rate: 1, burst: 1 });
    await read(service, loud.apiKey);
    expect((await read(service, loud.apiKey)).status).toBe(429);
    expect((await read(service, quiet.apiKey)).status).toBe(200);
  });
});

test("a limit that an operator sets takes effect soon", async () => {
  const { id, apiKey } = await service.addWorkspace();
  expect((await read(service, apiKey)).body.data.limits.read).toEqual({
    rate: 5_000,
    burst: 10_000,
  });
  await setLimit(service.app.em, id, "read", { rate: 7, burst: 9 });
  await eventually("the new limit", async () => {
    const { body } = await read(service, apiKey);
    return body.data?.limits.read.burst === 9;
  });
});

describe.skipIf(!hasRedis)("with Redis", () => {
  test("replicas share limits, and calls are allowed when Redis fails", async () => {
    const database = await createDatabase();
    const redis = await startRedis();
    const options = { redisUrl: redis.url };
    const replicas = [await startReplica(database.url, options), await startReplica(database.url, options)] as const;
    onTestFinished(async () => void (await Promise.all(replicas.map((it) => it.close()))));
    const { id, apiKey } = await replicas[0].addWorkspace();
    await setLimit(replicas[0].app.em, id, "read", { rate: 1, burst: 20 });

    const exhausted = await replicas[0].addWorkspace();
    await setLimit(replicas[0].app.em, exhausted.id, "read", { rate: 1, burst: 1 });
    for (const replica of replicas) {
      // A replica allows all calls until it is connected to Redis.
      await eventually("the replica to count", async () => {
        return (await read(replica, exhausted.apiKey)).status === 429;
      });
    }

    // The bucket refills by one call per second, measured by the clock of Redis.
    const answers = Array.from({ length: 60 }, (_, i) => read(replicas[i % 2]!, apiKey));
    const allowed = (await Promise.all(answers)).filter(({ status }) => status === 200).length;
    expect(allowed).toBeGreaterThanOrEqual(20);
    expect(allowed).toBeLessThan(40);

    await redis.stop();
    expect((await read(replicas[0], apiKey)).status).toBe(200);
    expect((await read(replicas[1], apiKey)).status).toBe(200);
  });
});
