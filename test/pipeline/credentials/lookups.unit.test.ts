import { afterEach, expect, test, vi } from "vitest";
import { createFailedAttempts } from "../../../src/pipeline/credentials/failed-attempts.ts";
import { createLookups, createTurns } from "../../../src/pipeline/credentials/lookups.ts";

afterEach(() => void vi.useRealTimers());

const TOO_MANY = "Too many unknown callers at the same time. Try again in a moment.";

/** Creates lookups that complete only when the test lets them. Also returns the started lookups. */
function heldLookups() {
  const lookups = createLookups();
  const attempts = createFailedAttempts({ rate: 1, burst: 20 }, "Too many", () => 0);
  const begun: string[] = [];
  const end = new Map<string, (found: string | undefined) => void>();
  const find = (credential: string, address: string) =>
    lookups.find(credential, {
      attempts,
      address,
      find: () => {
        begun.push(credential);
        const { promise, resolve } = Promise.withResolvers<string | undefined>();
        end.set(credential, resolve);
        return promise;
      },
    });
  /** Starts a lookup and completes it immediately. */
  const answer = async (credential: string, address: string, found: string | undefined) => {
    const finding = find(credential, address);
    await vi.waitFor(() => expect(begun.at(-1)).toBe(credential));
    end.get(credential)!(found);
    return finding;
  };
  return { lookups, begun, end, find, answer };
}

test("looks up unknown credentials four at a time across all addresses", async () => {
  const { begun, end, find } = heldLookups();
  const all = Array.from({ length: 6 }, (_, i) => find(`guess ${i}`, `192.0.2.${i}`));
  await Promise.resolve();
  expect(begun).toEqual(["guess 0", "guess 1", "guess 2", "guess 3"]);
  end.get("guess 2")!(undefined);
  await all[2];
  expect(begun).toEqual(["guess 0", "guess 1", "guess 2", "guess 3", "guess 4"]);
  end.get("guess 0")!("Ada");
  await vi.waitFor(() => expect(begun.at(-1)).toBe("guess 5"));
  for (const resolve of end.values()) resolve(undefined);
  await Promise.all(all);
});

test("a known credential does not wait for lookups and is not refused because of others at its address", async () => {
  const { begun, find, answer } = heldLookups();
  await expect(answer("good", "192.0.2.1", "Ada")).resolves.toBe("Ada");
  for (let i = 0; i < 20; i++) await answer(`guess ${i}`, "192.0.2.1", undefined);
  await expect(find("guess 20", "192.0.2.1")).rejects.toThrow("Too many");
  for (let i = 0; i < 4; i++) void find(`held ${i}`, `192.0.2.${10 + i}`);
  await vi.waitFor(() => expect(begun.at(-1)).toBe("held 3"));
  await expect(answer("good", "192.0.2.1", "Ada")).resolves.toBe("Ada");
});

test("counts a credential that is no longer valid", async () => {
  const { lookups, find, answer } = heldLookups();
  lookups.trust("ended");
  for (let i = 0; i < 20; i++) await answer(`guess ${i}`, "192.0.2.1", undefined);
  await expect(answer("ended", "192.0.2.1", undefined)).resolves.toBeUndefined();
  await expect(find("ended", "192.0.2.1")).rejects.toThrow("Too many");
});

test("refuses a lookup that waits too long and gives its turn to the next one", async () => {
  vi.useFakeTimers();
  const inTurn = createTurns(1);
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = inTurn(() => promise);
  const late = expect(inTurn(async () => "late")).rejects.toThrow(TOO_MANY);
  await vi.advanceTimersByTimeAsync(1_000);
  const next = inTurn(async () => "next");
  await vi.advanceTimersByTimeAsync(1_000);
  await late;
  resolve("first");
  await expect(Promise.all([first, next])).resolves.toEqual(["first", "next"]);
  await expect(inTurn(async () => "free")).resolves.toBe("free");
});

test("at most 5,000 lookups wait", async () => {
  const inTurn = createTurns(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const all = Array.from({ length: 5_001 }, () => inTurn(() => promise));
  await expect(inTurn(() => promise)).rejects.toThrow(TOO_MANY);
  resolve();
  await Promise.all(all);
});
