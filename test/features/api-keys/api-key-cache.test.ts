import { expect, test, vi } from "vitest";
import type { EntityManager } from "../../../src/db/orm.ts";
import { hashKey, lastFour, createSecretKey } from "../../../src/domain/secret-key.ts";
import { createApiKeyCache } from "../../../src/features/api-keys/api-key-cache.ts";
import { connectTo } from "../../support/database.ts";
import { everLonger } from "../../support/ever-longer.ts";
import { eventually } from "../../support/eventually.ts";
import { listKeys, revokeKey, rotateKeys, setLimit } from "../../support/platform.ts";
import { startReplica, startService } from "../../support/service.ts";

const HOUR_MS = 60 * 60 * 1000;

const changing = await startService();
const { em } = changing.app;
const clockAt = (ms: number) => ({ now: () => new Date(Date.now() + ms) });
/** Replicas. The clocks of the last two are an hour behind and an hour ahead. */
const replicas = [
  changing,
  await startReplica(changing.databaseUrl),
  await startReplica(changing.databaseUrl, clockAt(-HOUR_MS)),
  await startReplica(changing.databaseUrl, clockAt(HOUR_MS)),
];
const database = await connectTo(changing.databaseUrl);

/** Reads the workspace through each replica. */
const readEverywhere = (apiKey: string) => Promise.all(replicas.map((replica) => replica.as(apiKey).getWorkspace()));

const statuses = async (apiKey: string) => (await readEverywhere(apiKey)).map(({ status }) => status);

/** Creates a workspace whose new key every replica has cached. */
async function knownWorkspace(): Promise<{ id: number; apiKey: string }> {
  const workspace = await changing.addWorkspace();
  expect(await statuses(workspace.apiKey)).toEqual([200, 200, 200, 200]);
  return workspace;
}

const untilRefusedEverywhere = (apiKey: string) =>
  eventually("every replica to refuse the key", async () => (await statuses(apiKey)).every((status) => status === 401));

test.each([
  ["is revoked", (id: number, apiKey: string) => revokeKey(em, id, apiKey)],
  ["is rotated away", (id: number) => rotateKeys(em, id, 0)],
  [
    "expires, although the notification was lost",
    (_: number, apiKey: string) =>
      database.query("update api_key set ends_at = now(), changed_at = now() where hash = $1", [hashKey(apiKey)]),
  ],
])("a key that %s is soon rejected by every replica, while the workspace's other keys stay active", async (_, end) => {
  const { id, apiKey } = await knownWorkspace();
  const others = [await rotateKeys(em, id, 60)];
  expect(await statuses(others[0]!)).toEqual([200, 200, 200, 200]);
  const made = await end(id, apiKey);
  if (typeof made === "string") others.splice(0, 1, made);
  await untilRefusedEverywhere(apiKey);
  expect(await statuses(others[0]!)).toEqual([200, 200, 200, 200]);
});

test("a rotated key is active exactly until its overlap ends, regardless of a replica's clock", () =>
  everLonger(3_000, async (overlapMs) => {
    const { id, apiKey } = await knownWorkspace();
    const second = await rotateKeys(em, id, overlapMs / 1_000);
    // Simulates an old rotation, so that only the end of the overlap can expire the key.
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

test("a new limit soon applies to a key that was created on a machine whose clock is ahead", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + HOUR_MS });
  const { id, apiKey } = await knownWorkspace().finally(() => vi.useRealTimers());
  await setLimit(em, id, "quote", { rate: 7, burst: 9 });
  await eventually("every replica to apply the limit", async () =>
    (await readEverywhere(apiKey)).every(({ body }) => body.data.limits.quote.rate === 7),
  );
});

test("concurrent rotations leave one active key", async () => {
  const { id, apiKey } = await knownWorkspace();
  const made = await Promise.all([1, 2, 3, 4, 5].map(() => rotateKeys(em, id, 0)));
  const listed = await listKeys(em, id);
  expect(listed).toHaveLength(1);
  expect(made.map(lastFour)).toContain(listed[0]!.last4);
  await untilRefusedEverywhere(apiKey);
});

test("a key that is revoked during its lookup is not cached", async () => {
  const { id, apiKey } = await changing.addWorkspace();
  const asking = Promise.all(Array.from({ length: 30 }, () => statuses(apiKey)));
  await revokeKey(em, id, apiKey);
  await asking;
  await untilRefusedEverywhere(apiKey);
});

test("an unknown key is looked up at most once per second", async () => {
  let lookups = 0;
  const counting = { fork: () => ({ findOne: async () => (lookups++, null) }) };
  const neverFound = () => Promise.reject(new Error("no key is found"));
  const apiKeys = createApiKeyCache(counting as unknown as EntityManager, neverFound);
  const apiKey = createSecretKey("shp_");
  for (let i = 0; i < 10; i++) expect(await apiKeys.find(apiKey)).toBeUndefined();
  expect(lookups).toBe(1);
  await eventually("the cached miss to expire", async () => {
    await apiKeys.find(apiKey);
    return lookups === 2;
  });
});
