import { afterAll, expect, test } from "vitest";
import { databaseRefusal, isTransientDatabaseError } from "../../src/db/database-error.ts";
import { createGroupCommit } from "../../src/db/group-commit.ts";
import type { ObserveGroups } from "../../src/db/group-queue.ts";
import { createOrm, MAX_CONNECTIONS } from "../../src/db/orm.ts";
import type { Transaction } from "../../src/db/transaction.ts";
import { ENTITIES } from "../../src/server/entities.ts";
import { createDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";

const database = await createDatabase();
const orm = createOrm(database.url, { entities: ENTITIES });
await orm.em.execute("create table seat (number int unique deferrable initially deferred)");
afterAll(async () => {
  await orm.close();
});

/** Groups observed so far. */
const groups: [name: string, members: number, waitedMs: number][] = [];
const observeGroups: ObserveGroups =
  (name) =>
  (...taken) =>
    void groups.push([name, ...taken]);

const createGroup = createGroupCommit(orm.em, observeGroups);

const SEATS = {
  name: "seats",
  workspaceOf: () => 1,
  serializeBy: () => undefined,
  deadlineMs: () => Infinity,
};

const takeSeat = async (tx: Transaction, number: number) => {
  await tx.send("insert into seat values ($1)", [number]);
  return { result: number };
};

const seats = async () =>
  (await orm.em.execute<{ number: number }[]>("select number from seat order by number")).map(({ number }) => number);

test("refuses a member that waits too long for a connection, and does not write it later", async () => {
  const gate = Promise.withResolvers<void>();
  const take = createGroup({
    ...SEATS,
    maxMembers: 1,
    async work(tx, [number]: readonly number[]) {
      await gate.promise;
      return [await takeSeat(tx, number!)];
    },
  });
  const all = Array.from({ length: 40 }, (_, i) => i);
  const refusedNumbers: number[] = [];
  const taking = Promise.allSettled(
    all.map((number) =>
      take(number).catch((error: unknown) => {
        refusedNumbers.push(number);
        throw error;
      }),
    ),
  );
  await eventually("the calls to be refused", () => refusedNumbers.length >= all.length - (MAX_CONNECTIONS - 4));
  gate.resolve();

  const outcomes = await taking;
  const refused = outcomes.filter((it) => it.status === "rejected");
  expect(refused.every(({ reason }) => isTransientDatabaseError(reason))).toBe(true);
  const taken = all.filter((number) => !refusedNumbers.includes(number));
  expect(taken.length).toBeGreaterThan(0);
  expect(await seats()).toEqual(taken);
});

test("does not write a member whose deadline has passed", async () => {
  const take = createGroup({
    ...SEATS,
    maxMembers: 2,
    deadlineMs: (number: number) => (number < 110 ? 0 : Infinity),
    work: async (tx, numbers) => {
      const results = [];
      for (const number of numbers) results.push(await takeSeat(tx, number));
      return results;
    },
  });
  const outcomes = await Promise.allSettled([100, 101, 110, 102, 111].map((number) => take(number)));
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled", "rejected", "fulfilled"]);
  expect((await seats()).filter((number) => number >= 100)).toEqual([110, 111]);
});

test("a refused commit releases its connection", async () => {
  const take = createGroup({
    ...SEATS,
    maxMembers: 1,
    work: async (tx, [number]: readonly number[]) => [await takeSeat(tx, number!)],
  });
  expect(await take(200)).toBe(200);
  for (let i = 0; i <= MAX_CONNECTIONS; i++) {
    await expect(take(200)).rejects.toMatchObject({ code: "23505" });
  }
  expect(await take(201)).toBe(201);
});

test("reports each group with its name, its size and its first member's wait", async () => {
  groups.length = 0;
  const take = createGroup({
    ...SEATS,
    name: "places",
    maxMembers: 3,
    work: async (tx, numbers: readonly number[]) => {
      await tx.send("select 1", []);
      return numbers.map((result) => ({ result }));
    },
  });
  await Promise.all([1, 2, 3, 4, 5].map((number) => take(number)));
  expect(groups).toEqual([
    ["places", 3, expect.any(Number)],
    ["places", 2, expect.any(Number)],
  ]);
  expect(groups.every(([, , waitedMs]) => waitedMs >= 0)).toBe(true);
});

/** Creates a group whose members collide with other transactions, each as many times as its number. */
function createColliding(deadlineMs: () => number) {
  const tries = new Map<number, number>();
  const take = createGroup({
    ...SEATS,
    maxMembers: 2,
    deadlineMs,
    async work(tx, numbers: readonly number[]) {
      for (const number of numbers) {
        const attempt = (tries.get(number) ?? 0) + 1;
        tries.set(number, attempt);
        const sql = "do $$ begin raise foreign_key_violation; end $$";
        if (attempt <= number) await tx.send(sql, []);
      }
      return numbers.map((result) => ({ result }));
    },
  });
  return take;
}

test("retries a colliding member alone until it is written", async () => {
  const take = createColliding(() => Infinity);
  expect(await Promise.all([0, 7, 1].map((number) => take(number)))).toEqual([0, 7, 1]);
});

test("refuses a member that collides until its deadline with a retryable error", async () => {
  const take = createColliding(() => performance.now() + 50);
  const error = await take(Infinity).catch((error: unknown) => error);
  expect(databaseRefusal(error)?.message).toBe("The service is busy with other calls. Try again in a moment.");
  expect(error).toMatchObject({ cause: { code: "23503" } });
});
