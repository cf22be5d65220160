import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";

test.each(["redis.example.org:6379", "http://redis.example.org", "redis://", "redis://ada:100%@redis.example.org"])(
  "the service does not start with REDIS_URL=%s, and does not show it",
  (url) => {
    expect(() => readConfig({ REDIS_URL: url })).toThrow(
      /^REDIS_URL: must be an address such as redis:\/\/user:password@redis\.example\.org:6379$/,
    );
  },
);

test.each(["redis://valkey:6379", "rediss://:p%40ss@[::1]:6379/1?family=6"])("accepts REDIS_URL=%s", (url) => {
  expect(readConfig({ REDIS_URL: url }).redisUrl).toBe(url);
});
