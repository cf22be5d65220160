import { expect, test } from "vitest";
import { refuse, unavailable } from "../../../src/domain/refusal.ts";
import { createFailedAttempts } from "../../../src/pipeline/credentials/failed-attempts.ts";

const LIMIT = { rate: 100, burst: 1_000 };
const TOO_MANY = "Too many unknown keys from this address. Try again in 1 s.";

/** Creates a record of failed attempts with a clock that only the test moves. */
function attemptsAt() {
  const clock = { nowMs: 0 };
  const attempts = createFailedAttempts(LIMIT, "Too many unknown keys from this address", () => clock.nowMs);
  let made = 0;
  const make = <T>(address: string, outcome: () => Promise<T | undefined>) =>
    attempts.make(address, () => {
      made++;
      return outcome();
    });
  const fail = (address: string) => make(address, async () => undefined);
  return { clock, make, fail, made: () => made };
}

test("temporarily refuses an address with many failed attempts, and no others", async () => {
  const { clock, fail } = attemptsAt();
  for (let i = 0; i < 1_000; i++) await fail("192.0.2.1");
  await expect(fail("192.0.2.1")).rejects.toThrow(TOO_MANY);
  await expect(fail("192.0.2.2")).resolves.toBeUndefined();
  clock.nowMs += 10;
  await expect(fail("192.0.2.1")).resolves.toBeUndefined();
  await expect(fail("192.0.2.1")).rejects.toThrow(TOO_MANY);
});

test("limits concurrent attempts to the number that may fail", async () => {
  const { make, fail, made } = attemptsAt();
  const { promise: end, resolve: answer } = Promise.withResolvers<undefined>();
  const all = Array.from({ length: 4_000 }, () => make("192.0.2.1", () => end));
  const settled = Promise.allSettled(all);
  answer(undefined);
  expect((await settled).filter(({ status }) => status === "rejected").length).toBe(3_000);
  expect(made()).toBe(1_000);
  await expect(fail("192.0.2.1")).rejects.toThrow(TOO_MANY);
});

test.each<[string, () => Promise<unknown>]>([
  ["finds a credential", async () => "found"],
  ["fails with a database error", () => Promise.reject(new Error("connection lost"))],
  ["fails because the service is overloaded", () => Promise.reject(unavailable("Overloaded."))],
])("does not count a finished attempt that %s", async (_, outcome) => {
  const { make, fail } = attemptsAt();
  for (let i = 0; i < 1_500; i++) await make("192.0.2.1", outcome).catch(() => undefined);
  for (let i = 0; i < 999; i++) await fail("192.0.2.1");
  await make("192.0.2.1", outcome).catch(() => undefined);
  await expect(fail("192.0.2.1")).resolves.toBeUndefined();
  await expect(fail("192.0.2.1")).rejects.toThrow(TOO_MANY);
});

test("counts a refused attempt as failed", async () => {
  const { make, fail } = attemptsAt();
  const refused = () => Promise.reject(refuse("NOT_A_MEMBER", "You are no member."));
  for (let i = 0; i < 1_000; i++) {
    await expect(make("192.0.2.1", refused)).rejects.toThrow("You are no member.");
  }
  await expect(fail("192.0.2.1")).rejects.toThrow(TOO_MANY);
});

test.each([
  ["2001:db8:1:2::1", "2001:0DB8:1:2:ffff::ffff"],
  ["::ffff:192.0.2.1", "192.0.2.1"],
])("counts %s and %s together as one subscriber", async (one, other) => {
  const { fail } = attemptsAt();
  for (let i = 0; i < 500; i++) await Promise.all([fail(one), fail(other)]);
  await expect(fail(one)).rejects.toThrow(TOO_MANY);
  await expect(fail(other)).rejects.toThrow(TOO_MANY);
  await expect(fail("2001:db8:1:3::1")).resolves.toBeUndefined();
});

test("a large number of addresses does not bypass the limit", async () => {
  const { fail } = attemptsAt();
  for (let i = 0; i < 11_000; i++) await fail(`address ${i}`);
  await expect(fail("address 11001")).rejects.toThrow(TOO_MANY);
});
