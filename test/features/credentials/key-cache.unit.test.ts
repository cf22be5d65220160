import { expect, test } from "vitest";
import { hashKey } from "../../../src/domain/secret-key.ts";
import { createKeyCache } from "../../../src/features/credentials/key-cache.ts";
import type { Caller } from "../../../src/pipeline/call.ts";

const SECRET = "shp_secret";

test("records the use of a key even if a change during its lookup prevents caching", async () => {
  const caller = {} as Caller;
  const cache = createKeyCache("api_key", async () => {
    cache.forgetAll();
    return { caller, changedAt: new Date() };
  });
  expect(await cache.find(SECRET)).toBe(caller);
  expect(cache.recall(SECRET)).toBeUndefined();
  expect(cache.drainUsed()).toEqual([hashKey(SECRET)]);
  expect(cache.drainUsed()).toEqual([]);
});
