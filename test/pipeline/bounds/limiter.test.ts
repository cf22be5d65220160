import { describe, expect, onTestFinished, test } from "vitest";
import { COVERED_ROUTE } from "../../support/bookings.ts";
import { createDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { setLimit } from "../../support/platform.ts";
import { hasRedis, startRedis } from "../../support/redis.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { startReplica, startService, type TestService } from "../../support/service.ts";

/** Its clock stands still, so that no bucket refills. */
const service = await startService({ outside: { monotonicMs: () => 0 } });

const read = (it: TestService, apiKey: string) => it.request("/v1/workspace", { apiKey });

const FIVE = { rate: 1, burst: 5 };

test("a workspace can make as many calls as its limit allows, and not one more", async () => {
  const { id, apiKey } = await service.addWorkspace();
  await setLimit(service.app.em, id, "read", { rate: 1, burst: 1_000 });
  const answers = await Promise.all(
    Array.from({ length: 1_100 }, () => read(service, apiKey).then(({ status }) => status)),
  );
  const answered = answers.filter((status) => status === 200).length;
  expect(answered).toBeGreaterThanOrEqual(1_000);
  expect(answered).toBeLessThan(1_060);
  expect(answers.filter((status) => status === 429).length).toBe(1_100 - answered);
});

test("every answer says how many calls are left, and a refused call when to retry", async () => {
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
    body: { message: "The workspace has used up its read calls; try again in 1 s.", errors: {} },
  });
  expect(headers.get("retry-after")).toBe("1");
  expect(headers.get("ratelimit-policy")).toBe('"read";q=5;w=5');
  expect(headers.get("ratelimit")).toBe('"read";r=0;t=1');
});

test("calls by gRPC and by JSON count against one limit, with the same headers", async () => {
  const { id, apiKey } = await service.addWorkspace();
  await setLimit(service.app.em, id, "read", FIVE);
  const { listShipments } = service.grpcClient(apiKey);
  for (let i = 0; i < 5; i++) await (i % 2 === 0 ? read(service, apiKey) : listShipments({}));
  expect(await rpcError(listShipments({}))).toMatchObject({
    code: "ResourceExhausted",
    message: "The workspace has used up its read calls; try again in 1 s.",
    details: {
      ErrorInfo: { reason: "RATE_LIMITED", domain: "shipments.v1" },
      RetryInfo: { retryDelay: "1s" },
    },
  });
});

describe("a workspace that has used up its calls", () => {
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

test("a limit that an operator sets soon takes effect", async () => {
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
  test("replicas count together; when it fails, calls are let through", async () => {
    const database = await createDatabase();
    const redis = await startRedis();
    const options = { redisUrl: redis.url };
    const replicas = [
      await startReplica(database.url, options),
      await startReplica(database.url, options),
    ] as const;
    onTestFinished(async () => void (await Promise.all(replicas.map((it) => it.close()))));
    const { id, apiKey } = await replicas[0].addWorkspace();
    await setLimit(replicas[0].app.em, id, "read", { rate: 1, burst: 20 });

    const exhausted = await replicas[0].addWorkspace();
    await setLimit(replicas[0].app.em, exhausted.id, "read", { rate: 1, burst: 1 });
    for (const replica of replicas) {
      // A replica lets calls through until it is connected to Redis.
      await eventually("the replica to count", async () => {
        return (await read(replica, exhausted.apiKey)).status === 429;
      });
    }

    // At once, since the bucket refills by a call a second.
    const answers = Array.from({ length: 30 }, (_, i) => read(replicas[i % 2]!, apiKey));
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBe(20);

    await redis.stop();
    expect((await read(replicas[0], apiKey)).status).toBe(200);
    expect((await read(replicas[1], apiKey)).status).toBe(200);
  });
});
