import { beforeEach, expect, test } from "vitest";
import { createSecretKey } from "../../src/domain/secret-key.ts";
import { postForm } from "../support/browser.ts";
import { startService } from "../support/service.ts";
import { stopClock } from "../support/stop-clock.ts";

const service = await startService({ trustedProxies: ["127.0.0.0/8"] });

beforeEach(stopClock);

/** Tries an invalid sign-in link from a client address. Returns the status. */
async function tryToken(i: number, address: string): Promise<number> {
  const headers = { "sec-fetch-site": "same-origin", "x-forwarded-for": address };
  const form = { token: String(i).padStart(43, "A") };
  return (await postForm(service, "/sign-in", form, headers)).status;
}

test("behind a trusted proxy, limits only the address that tries many tokens", async () => {
  const statuses: number[] = [];
  for (let i = 0; i < 25; i++) statuses.push(await tryToken(i, "203.0.113.9, 192.0.2.1"));
  expect(statuses).toContain(429);
  expect(await tryToken(25, "192.0.2.1, 192.0.2.2")).toBe(403);
});

test("limits IPv6 addresses of one subscriber together", async () => {
  const statuses = new Set<number>();
  for (let i = 1; i <= 40; i++) statuses.add(await tryToken(i, `2001:db8:0:1::${i}`));
  expect(statuses).toEqual(new Set([403, 429]));
  expect(await tryToken(41, "2001:db8:0:2::1")).toBe(403);
});

test("behind a trusted proxy, limits only the address that sends many unknown keys", async () => {
  const { apiKey } = await service.addWorkspace();
  const call = async (key: string, address: string) => {
    const headers = { "x-forwarded-for": address };
    return (await service.request("/v1/workspace", { apiKey: key, headers })).status;
  };
  const statuses = new Set<number>();
  for (let i = 0; i < 3_000 && !statuses.has(429); i += 100) {
    const guesses = Array.from({ length: 100 }, () => call(createSecretKey("shp_"), "192.0.2.3"));
    for (const status of await Promise.all(guesses)) statuses.add(status);
  }
  expect([...statuses]).toEqual([401, 429]);
  expect(await call(apiKey, "192.0.2.4")).toBe(200);
});
