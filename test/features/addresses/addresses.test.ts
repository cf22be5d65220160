import manifest from "../../../package.json" with { type: "json" };
import { describe, expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { ANY_TIME, book, BOOKING, bookAnd } from "../../support/bookings.ts";
import { signIn } from "../../support/browser.ts";
import type { Answer } from "../../support/client.ts";
import { startGeocoder } from "../../support/geocoder.ts";
import { parsePrometheus } from "../../support/metrics.ts";
import { sharedService, startService } from "../../support/service.ts";

const standIn = await startGeocoder("photon");
const clock = { ms: 1 };
const service = await startService({
  ...standIn.settings,
  publicUrl: "https://book.example.org",
  outside: { monotonicMs: () => clock.ms, geocoderTimeoutMs: 10_000 },
});
const { id, apiKey, twin } = await service.addWorkspace();

const attribution = "© OpenStreetMap contributors";
const ALLEE = {
  label: "Karl-Marx-Allee 33, 10178 Berlin, Deutschland",
  lat: 52.5203,
  lng: 13.4217,
  precision: "building",
  confidence: null,
};
const STRASSE = {
  label: "Karl-Marx-Straße, 12043 Berlin, Deutschland",
  lat: 52.4781,
  lng: 13.4392,
  precision: "street",
  confidence: null,
};

/** Searches, by default with the workspace's key. */
const search = (query: string, key = apiKey, more: object = {}) => service.as(key).searchAddresses({ query, ...more });
const reverse = (lat: number, lng: number, key = apiKey) => service.as(key).reverseGeocode({ lat, lng });
const statusOf = async (query: string, key = apiKey) => (await search(query, key)).status;

/** Returns the number of requests that the geocoder receives during `work`. */
async function countRequests(work: () => Promise<unknown>): Promise<number> {
  const before = standIn.requests.length;
  await work();
  return standIn.requests.length - before;
}

/** Expects a refusal because the geocoder is unavailable for this many seconds. */
async function expectWaiting(call: Promise<Answer>, seconds: number, why: string): Promise<void> {
  const text = `${why} Try again in ${seconds} s.`;
  const { headers } = await expectRefused(call, "UNAVAILABLE", text, { waits_for: "geocoder" });
  expect(headers.get("retry-after")).toBe(String(seconds));
}

describe("with a geocoder", () => {
  test("finds addresses by the typed text", async () => {
    const found = { data: [ALLEE, STRASSE], attribution };
    expect((await search("karl-marx")).body).toEqual(found);
    expect(await data(search("karl-marx", apiKey, { limit: 1 }))).toEqual([ALLEE]);
    expect((await search("nowhere")).body).toEqual({ data: [], attribution });
  });

  test("returns the address at a point, or nothing if there is none", async () => {
    const found = (await reverse(52.5204, 13.4216)).body;
    expect(found).toEqual({ data: [ALLEE], attribution });
    expect((await reverse(0, 0)).body).toEqual({ data: [], attribution });
  });

  test("sends the geocoder the preferred location, rounded to about a kilometer", async () => {
    await search("brook", apiKey, { lat: 40.71234, lng: -74.00567, limit: 2 });
    expect(standIn.requests.at(-1)!.parameters).toEqual({
      q: "brook",
      limit: "2",
      lat: "40.71",
      lon: "-74.01",
    });
    expect(standIn.requests.at(-1)!.headers["user-agent"]).toBe(
      `shipment-booking/${manifest.version} (+https://book.example.org)`,
    );
  });

  test("getWorkspace reports that addresses can be searched", async () => {
    expect((await data(service.as(apiKey).getWorkspace())).address_search).toBe(true);
  });

  test.each([
    ["?query=", { query: ["query is required."] }],
    [`?query=${"x".repeat(201)}`, { query: ["query must be at most 200 characters."] }],
    ["?query=a&limit=0", { limit: [expect.any(String)] }],
    ["?query=a&limit=11", { limit: [expect.any(String)] }],
    ["?query=a&lat=91&lng=0", { lat: [expect.any(String)] }],
    ["?query=a&lat=1", { lng: ["lng is required with lat. Set both or neither."] }],
    ["?query=a&lng=1", { lat: ["lat is required with lng. Set both or neither."] }],
    ["?query=a&near=1", { near: [expect.any(String)] }],
    ["/reverse?lat=1", { lng: ["lng is required."] }],
    ["/reverse?lat=1&lng=181", { lng: [expect.any(String)] }],
    ["/reverse?lat=north&lng=1", { lat: [expect.any(String)] }],
  ])("rejects %s as a field error without calling the geocoder", async (path, errors) => {
    const count = await countRequests(async () => {
      const { status, body } = await service.request(`/v1/addresses${path}`, { apiKey });
      expect({ status, errors: body.errors }).toEqual({ status: 422, errors });
    });
    expect(count).toBe(0);
  });

  test("caches results for an hour for all workspaces, ignoring case and spacing", async () => {
    const other = await service.addWorkspace();
    const same = async () => {
      await search("east 10th");
      await search("East    10TH", other.twin.apiKey);
      await reverse(40.7300001, -73.986);
      await reverse(40.73, -73.9860001, other.apiKey);
    };
    expect(await countRequests(same)).toBe(2);
    clock.ms += 3_599_000;
    expect(await countRequests(same)).toBe(0);
    clock.ms += 2_000;
    expect(await countRequests(same)).toBe(2);
  });

  test("limits each workspace's lookups with a token bucket", async () => {
    const greedy = await service.addWorkspace();
    const lookup = (n: number, key = greedy.apiKey) => search(`new york ${n}`, key);
    const lookupStatus = async (n: number, key?: string) => (await lookup(n, key)).status;
    const statuses = await Promise.all(Array.from({ length: 101 }, (_, n) => lookupStatus(n)));
    // With this many concurrent calls, some find the geocoder busy.
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
    const text = "The workspace has looked up too many addresses. Try again in 1 s.";
    const { headers } = await expectRefused(lookup(1_000), "RATE_LIMITED", text);
    expect(headers.get("retry-after")).toBe("1");
    // Neither cached lookups nor lookups by another workspace, such as the test twin, count.
    const [cached] = statuses.keys().filter((n) => statuses[n] === 200);
    expect(await lookupStatus(cached!)).toBe(200);
    expect(await lookupStatus(1_001, greedy.twin.apiKey)).toBe(200);
    clock.ms += 100;
    expect([await lookupStatus(1_002), await lookupStatus(1_003)]).toEqual([200, 429]);
  });

  test("reports searches as unavailable while the geocoder fails", async () => {
    standIn.answer = (response) => response.end("[]");
    const why = "The geocoder's response is not valid.";
    await expectWaiting(search("failing"), 1, why);
    await expectWaiting(reverse(1, 1), 1, why);
    standIn.answer = undefined;
    // Failures must not be cached.
    expect(await statusOf("failing")).toBe(200);
  });

  test("returns a retry delay while the geocoder's rate limit is reached", async () => {
    await data(reverse(0, 0));
    standIn.answer = (response) => response.writeHead(429, { "retry-after": "7" }).end();
    const why = "The geocoder's rate limit was reached.";
    await expectWaiting(search("limited"), 7, why);
    standIn.answer = undefined;
    clock.ms += 4_000;
    await expectWaiting(search("limited"), 3, why);
    // A cached address needs no request to the geocoder.
    await data(reverse(0, 0, twin.apiKey));
    clock.ms += 3_000;
    expect(await statusOf("limited")).toBe(200);
  });

  test("allows lookups in test mode, with read-only keys and by members of every role", async () => {
    const reads = { name: "Reads", scope: "read_only" };
    const { body } = await service.as(apiKey).createApiKey(reads);
    for (const key of [twin.apiKey, body.api_key]) expect(await statusOf("karl-marx", key)).toBe(200);
    const viewer = await signIn(service, apiKey, { email: "eve@example.org", role: "viewer" });
    const headers = { "x-workspace": String(id) };
    const seen = await viewer.request("/v1/addresses?query=karl-marx", { headers });
    expect(seen.body).toEqual({ data: [ALLEE, STRASSE], attribution });
  });

  test("metrics report the duration of geocoder requests by outcome", async () => {
    const count = async (outcome: string) => {
      const metrics = parsePrometheus((await service.request("/metrics")).text);
      const { samples } = metrics.get("shipments_geocoder_request_seconds")!;
      return samples.find(
        ({ name, labels }) =>
          name.endsWith("_count") && labels["outcome"] === outcome && labels["geocoder"] === "photon",
      )?.value;
    };
    const [ok, failed] = [(await count("ok"))!, (await count("failed"))!];
    await search("measured");
    standIn.answer = (response) => response.writeHead(500).end();
    await search("measured too");
    standIn.answer = undefined;
    expect([await count("ok"), await count("failed")]).toEqual([ok + 1, failed + 1]);
    expect(await count("limited")).toBeGreaterThan(0);
    expect(await count("unanswered")).toBe(0);
  });
});

describe("without a geocoder", async () => {
  const plain = await sharedService();
  const { apiKey: key } = await plain.addWorkspace();
  const as = plain.as(key);

  test("rejects lookups with the names of the missing settings, and getWorkspace reports that search is unavailable", async () => {
    for (const call of [as.searchAddresses({ query: "karl" }), as.reverseGeocode({ lat: 1, lng: 1 })]) {
      await expectRefused(call, "GEOCODER_NOT_CONFIGURED", {
        geocoder: "The platform has no geocoder. An operator can set GEOCODER and GEOCODER_URL.",
      });
    }
    expect((await data(as.getWorkspace())).address_search).toBe(false);
  });

  test("lists the addresses of a customer's shipments without duplicates, most recently used first", async () => {
    const own = await plain.addWorkspace();
    const { customer } = await book(plain, own.apiKey);
    const moved = { pickup_address: "1 TIMES Square, New York", pickup_lat: 40.75 };
    await bookAnd(plain, own.apiKey, ["cancel"], { ...moved, dropoff_address: "2 Main St" });
    await book(plain, own.apiKey, { customer_email: "else@example.org", pickup_address: "Else" });
    const { dropoff_lat, dropoff_lng, pickup_lng } = BOOKING;
    const dropoff = { lat: dropoff_lat, lng: dropoff_lng, last_used_at: ANY_TIME };
    const { listRecentAddresses } = plain.as(own.apiKey);
    const listed = await data(listRecentAddresses({ customer: customer.id }));
    expect(listed).toEqual([
      { address: moved.pickup_address, lat: 40.75, lng: pickup_lng, last_used_at: ANY_TIME },
      { address: "2 Main St", ...dropoff },
      { address: BOOKING.dropoff_address, ...dropoff },
    ]);
    const two = await data(listRecentAddresses({ customer: customer.id, limit: 2 }));
    expect(two).toEqual(listed.slice(0, 2));
    for (const foreign of [
      as.listRecentAddresses({ customer: customer.id }),
      as.listRecentAddresses({ customer: 2 ** 40 }),
      listRecentAddresses({ customer: "-1" }),
    ]) {
      expect(await data(foreign)).toEqual([]);
    }
    expect((await listRecentAddresses({ customer: customer.id, limit: 21 })).status).toBe(422);
  });
});
