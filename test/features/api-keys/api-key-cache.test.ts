import { Code } from "@connectrpc/connect";
import { expect, test, vi } from "vitest";
import type { EntityManager } from "../../../src/db/orm.ts";
import { hashKey, lastFour, createSecretKey } from "../../../src/domain/secret-key.ts";
import { createApiKeyCache } from "../../../src/features/api-keys/api-key-cache.ts";
import { COVERED_ROUTE } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { everLonger } from "../../support/ever-longer.ts";
import { eventually } from "../../support/eventually.ts";
import { listKeys, revokeKey, rotateKeys, setLimit } from "../../support/platform.ts";
import { startReplica, startService } from "../../support/service.ts";

const HOUR_MS = 60 * 60 * 1000;

const changing = await startService();
const other = await startReplica(changing.databaseUrl);
/** Replicas on machines whose clocks are an hour late and an hour early. */
const late = await startReplica(changing.databaseUrl, {
  now: () => new Date(Date.now() - HOUR_MS),
});
const early = await startReplica(changing.databaseUrl, {
  now: () => new Date(Date.now() + HOUR_MS),
});
const database = await connectTo(changing.databaseUrl);

const replicas = () => [changing, other, late, early];

const statuses = (apiKey: string) =>
  Promise.all(
    replicas().map(async (replica) => {
      const { status } = await replica.request("/v1/shipments/quote", {
        apiKey,
        body: COVERED_ROUTE,
      });
      return status;
    }),
  );

/** A workspace whose key every replica has cached. */
async function knownWorkspace(): Promise<{ id: number; apiKey: string }> {
  const workspace = await changing.addWorkspace();
  expect(await statuses(workspace.apiKey)).toEqual([200, 200, 200, 200]);
  return workspace;
}

async function untilRefusedEverywhere(apiKey: string): Promise<void> {
  await eventually("every replica to refuse the key", async () =>
    (await statuses(apiKey)).every((status) => status === 401),
  );
}

test("a new key works on every replica at once", async () => {
  await knownWorkspace();
});

test("a revoked key soon stops working on every replica, by JSON and by gRPC", async () => {
  const { id, apiKey } = await knownWorkspace();
  await revokeKey(changing.app.em, id, apiKey);
  await untilRefusedEverywhere(apiKey);
  await expect(other.grpcClient(apiKey).quoteShipment({})).rejects.toMatchObject({
    code: Code.Unauthenticated,
  });
});

test("a revoked key soon stops working although the notification was lost", async () => {
  const { apiKey } = await knownWorkspace();
  await database.query("update api_key set ends_at = now(), changed_at = now() where hash = $1", [
    hashKey(apiKey),
  ]);
  await untilRefusedEverywhere(apiKey);
});

test("revoking one key leaves the workspace's other keys working", async () => {
  const { id, apiKey } = await knownWorkspace();
  const second = await rotateKeys(changing.app.em, id, 60);
  expect(await statuses(second)).toEqual([200, 200, 200, 200]);
  await revokeKey(changing.app.em, id, apiKey);
  await untilRefusedEverywhere(apiKey);
  expect(await statuses(second)).toEqual([200, 200, 200, 200]);
});

test("a rotated key soon stops working on every replica, and the new one works at once", async () => {
  const { id, apiKey } = await knownWorkspace();
  const second = await rotateKeys(changing.app.em, id, 0);
  expect(await statuses(second)).toEqual([200, 200, 200, 200]);
  await untilRefusedEverywhere(apiKey);
  expect(await statuses(second)).toEqual([200, 200, 200, 200]);
});

test("a rotated key works until its overlap ends and not after, whatever a replica's clock says", () =>
  everLonger(3_000, async (overlapMs) => {
    const { id, apiKey } = await knownWorkspace();
    const second = await rotateKeys(changing.app.em, id, overlapMs / 1_000);
    // As if rotated long ago, so that only the end of the overlap can end the key.
    const { rows } = await database.query(
      "update api_key set changed_at = now() - interval '1 hour' where hash = $1 returning ends_at",
      [hashKey(apiKey)],
    );
    const beforeTheEnd: number[] = [];
    await eventually("the key's last moment", async () => {
      const found = await statuses(apiKey);
      if (Date.now() < rows[0].ends_at.getTime()) beforeTheEnd.push(...found);
      return Date.now() >= rows[0].ends_at.getTime();
    });
    expect(new Set(beforeTheEnd)).toEqual(new Set([200]));
    await untilRefusedEverywhere(apiKey);
    expect(await statuses(second)).toEqual([200, 200, 200, 200]);
  }));

test("a new limit soon applies to a key that was made on a machine whose clock is early", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + HOUR_MS });
  const { id, apiKey } = await knownWorkspace().finally(() => vi.useRealTimers());
  await setLimit(changing.app.em, id, "quote", { rate: 7, burst: 9 });
  await eventually("every replica to apply the limit", async () => {
    const limits = await Promise.all(
      replicas().map(async (replica) => {
        const { body } = await replica.request("/v1/workspace", { apiKey });
        return body.data.limits.quote.rate;
      }),
    );
    return limits.every((rate) => rate === 7);
  });
});

test("a later rotation does not extend the overlap of an earlier key", async () => {
  const { id, apiKey } = await knownWorkspace();
  const endOf = async () => {
    const { rows } = await database.query("select ends_at from api_key where hash = $1", [
      hashKey(apiKey),
    ]);
    return rows[0].ends_at as Date;
  };
  await rotateKeys(changing.app.em, id, 60);
  const end = await endOf();
  await rotateKeys(changing.app.em, id, 3_600);
  expect(await endOf()).toEqual(end);
  await rotateKeys(changing.app.em, id, 0);
  await untilRefusedEverywhere(apiKey);
});

test("concurrent rotations leave one key working", async () => {
  const { id, apiKey } = await knownWorkspace();
  const made = await Promise.all([1, 2, 3, 4, 5].map(() => rotateKeys(changing.app.em, id, 0)));
  const listed = await listKeys(changing.app.em, id);
  expect(listed).toHaveLength(1);
  expect(made.map(lastFour)).toContain(listed[0]!.last4);
  await untilRefusedEverywhere(apiKey);
});

test("a key that is looked up while it is revoked is not cached", async () => {
  const { id, apiKey } = await changing.addWorkspace();
  const asking = Promise.all(Array.from({ length: 30 }, () => statuses(apiKey)));
  await revokeKey(changing.app.em, id, apiKey);
  await asking;
  await untilRefusedEverywhere(apiKey);
});

test("a key that is unknown is looked up once in a second, however often it is sent", async () => {
  const queries: string[] = [];
  const em = { fork: () => ({ findOne: async () => (queries.push("a look-up"), null) }) };
  const apiKeys = createApiKeyCache(em as unknown as EntityManager);
  const apiKey = createSecretKey("shp_");
  for (let i = 0; i < 10; i++) expect(await apiKeys.find(apiKey)).toBeUndefined();
  expect(queries).toEqual(["a look-up"]);
  await eventually("the miss to be forgotten", async () => {
    await apiKeys.find(apiKey);
    return queries.length === 2;
  });
});
