import { expect, test } from "vitest";
import { hashKey } from "../../../src/domain/secret-key.ts";
import { createKeyUseRecorder } from "../../../src/features/credentials/record-key-use.ts";
import { data } from "../../support/answers.ts";
import { ANY_TIME } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { HURRIED, startReplica, startService } from "../../support/service.ts";

const service = await startService({ outside: HURRIED });
const sql = await connectTo(service.databaseUrl);

const rowOf = async (table: "api_key" | "operator_key", key: string) => {
  const { rows } = await sql.query(`select last_used_at, changed_at from ${table} where hash = $1`, [hashKey(key)]);
  return rows[0] as { last_used_at: Date | null; changed_at: Date };
};

/** Creates a recorder for the given uses. Also returns its log. */
function recorderOf(...used: readonly string[]) {
  let left = used.map(hashKey);
  const warnings: string[] = [];
  const api_key = { drainUsed: () => left.splice(0) };
  const recorder = createKeyUseRecorder({
    em: service.app.em,
    log: { warn: (_: object, text: string) => void warnings.push(text) } as never,
    keys: { api_key, operator_key: { drainUsed: () => [] } },
  });
  return { ...recorder, warnings, use: (key: string) => (left = [hashKey(key)]) };
}

test("a replica records the used keys of workspaces and operators when it stops", async () => {
  const replica = await startReplica(service.databaseUrl);
  const { apiKey } = await service.addWorkspace();
  const { apiKey: unused } = await service.addWorkspace();
  const { key } = await service.addOperator();
  const before = [await rowOf("api_key", apiKey), await rowOf("operator_key", key)];
  await replica.as(apiKey).getWorkspace();
  await replica.as(key).listWorkspaces();
  await replica.close();
  const after = [await rowOf("api_key", apiKey), await rowOf("operator_key", key)];
  expect(before.map((row) => row.last_used_at)).toEqual([null, null]);
  expect(after.map((row) => row.last_used_at)).toEqual([expect.any(Date), expect.any(Date)]);
  expect(after.map((row) => row.changed_at)).toEqual(before.map((row) => row.changed_at));
  expect((await rowOf("api_key", unused)).last_used_at).toBeNull();
});

test("a workspace sees when its key was last used while the service runs", async () => {
  const { apiKey } = await service.addWorkspace();
  const lastUse = await eventually("the last use", async () => {
    const [key] = await data(service.as(apiKey).listApiKeys());
    return key.last_used_at ?? undefined;
  });
  expect(lastUse).toEqual(ANY_TIME);
});

test("an older use does not replace a newer one", async () => {
  const { apiKey } = await service.addWorkspace();
  await sql.query("update api_key set last_used_at = now() + interval '1 hour' where hash = $1", [hashKey(apiKey)]);
  const before = await rowOf("api_key", apiKey);
  await recorderOf(apiKey).record();
  expect(await rowOf("api_key", apiKey)).toEqual(before);
});

test("recorders that use the same keys in another order do not deadlock", async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => service.addWorkspace()));
  const keys = made.map(({ apiKey }) => apiKey);
  const recorders = [keys, keys.toReversed()].map((used) => recorderOf(...used));
  for (let round = 0; round < 10; round++) {
    await Promise.all(recorders.map((it) => it.record()));
    for (const it of recorders) it.use(keys[round]!);
  }
  expect(recorders.flatMap((it) => it.warnings)).toEqual([]);
  for (const key of keys) expect((await rowOf("api_key", key)).last_used_at).not.toBeNull();
});

test("a key that is locked by another transaction is recorded the next time", async () => {
  const { apiKey } = await service.addWorkspace();
  const recorder = recorderOf(apiKey);
  await sql.query("begin");
  await sql.query("select from api_key where hash = $1 for update", [hashKey(apiKey)]);
  await recorder.record();
  await sql.query("rollback");
  expect((await rowOf("api_key", apiKey)).last_used_at).toBeNull();
  await recorder.record();
  expect((await rowOf("api_key", apiKey)).last_used_at).toEqual(expect.any(Date));
});

test("uses that cannot be recorded are logged, and recorded the next time", async () => {
  const { apiKey } = await service.addWorkspace();
  const recorder = recorderOf(apiKey);
  await sql.query("alter table api_key rename to api_key_away");
  await recorder.record();
  await sql.query("alter table api_key_away rename to api_key");
  expect(recorder.warnings).toEqual(["last use of keys not recorded"]);
  await recorder.record();
  expect((await rowOf("api_key", apiKey)).last_used_at).toEqual(expect.any(Date));
});

test("the last call waits for the recording in progress", async () => {
  const { apiKey } = await service.addWorkspace();
  const recorder = recorderOf(apiKey);
  const ended: string[] = [];
  await sql.query("begin");
  await sql.query("lock table api_key");
  const first = recorder.record().then(() => ended.push("first"));
  const last = recorder.record().then(() => ended.push("last"));
  await sql.query("rollback");
  await Promise.all([first, last]);
  expect(ended).toEqual(["first", "last"]);
  expect((await rowOf("api_key", apiKey)).last_used_at).toEqual(expect.any(Date));
});
