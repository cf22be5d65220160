import manifest from "../../../package.json" with { type: "json" };
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import {
  AddressPrecision,
  AddressService,
  ListRecentAddressesResponseSchema,
  ReverseGeocodeResponseSchema,
  SearchAddressesResponseSchema,
} from "../../../gen/shipments/v1/address_service_pb.js";
import { ANY_TIME, book, BOOKING, bookAnd } from "../../support/bookings.ts";
import { signIn } from "../../support/browser.ts";
import { inDialect } from "../../support/dialect.ts";
import { errorBody } from "../../support/endpoints.ts";
import { startGeocoder } from "../../support/geocoder.ts";
import { parsePrometheus } from "../../support/metrics.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
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

/** Calls by a key of the workspace, or of another. */
async function get(path: string, key = apiKey) {
  const { status, headers, body } = await service.request(path, { apiKey: key });
  return { status, body, retryAfter: headers.get("retry-after") };
}

/** How often the geocoder is asked while this is done. */
async function asked(work: () => Promise<unknown>): Promise<number> {
  const before = standIn.asked.length;
  await work();
  return standIn.asked.length - before;
}

/** The body of an error that is for want of the geocoder. */
const waiting = (message: string) => ({
  ...errorBody(message),
  metadata: { waits_for: "geocoder" },
});

const OK = { status: 200, retryAfter: null };

describe("with a geocoder", () => {
  const client = service.grpcClient(apiKey, AddressService);

  test("addresses are found by what is typed, the same by JSON and gRPC", async () => {
    const data = [ALLEE, STRASSE];
    const answer = { ...OK, body: { data, attribution } };
    expect(await get("/v1/addresses?query=karl-marx")).toEqual(answer);
    const found = await client.searchAddresses({ query: "karl-marx" });
    expect(inDialect(SearchAddressesResponseSchema, found)).toEqual({ data, attribution });
    expect(found.data[0]!.precision).toBe(AddressPrecision.BUILDING);
    const first = { ...OK, body: { data: [ALLEE], attribution } };
    expect(await get("/v1/addresses?query=karl-marx&limit=1")).toEqual(first);
    const none = { ...OK, body: { data: [], attribution } };
    expect(await get("/v1/addresses?query=nowhere")).toEqual(none);
  });

  test("the address at a point is given, and none where there is none", async () => {
    const data = [ALLEE];
    const path = "/v1/addresses/reverse";
    const answer = { ...OK, body: { data, attribution } };
    expect(await get(`${path}?lat=52.5204&lng=13.4216`)).toEqual(answer);
    const found = await client.reverseGeocode({ lat: 52.5204, lng: 13.4216 });
    expect(inDialect(ReverseGeocodeResponseSchema, found)).toEqual({ data, attribution });
    const none = { ...OK, body: { data: [], attribution } };
    expect(await get(`${path}?lat=0&lng=0`)).toEqual(none);
  });

  test("a point near which matches are preferred is sent to about a kilometre", async () => {
    await get("/v1/addresses?query=brook&lat=40.71234&lng=-74.00567&limit=2");
    expect(standIn.asked.at(-1)!.parameters).toEqual({
      q: "brook",
      limit: "2",
      lat: "40.71",
      lon: "-74.01",
    });
    expect(standIn.asked.at(-1)!.headers["user-agent"]).toBe(
      `shipment-booking/${manifest.version} (+https://book.example.org)`,
    );
  });

  test("the workspace reads that addresses can be searched", async () => {
    expect((await get("/v1/workspace")).body.data.address_search).toBe(true);
  });

  test.each([
    ["?query=", { query: ["query is required."] }],
    [`?query=${"x".repeat(201)}`, { query: ["query must be at most 200 characters."] }],
    ["?query=a&limit=0", { limit: [expect.any(String)] }],
    ["?query=a&limit=11", { limit: [expect.any(String)] }],
    ["?query=a&lat=91&lng=0", { lat: [expect.any(String)] }],
    ["?query=a&lat=1", { lng: ["lng is required with lat: give both or neither."] }],
    ["?query=a&lng=1", { lat: ["lat is required with lng: give both or neither."] }],
    ["?query=a&near=1", { near: [expect.any(String)] }],
    ["/reverse?lat=1", { lng: ["lng is required."] }],
    ["/reverse?lat=1&lng=181", { lng: [expect.any(String)] }],
    ["/reverse?lat=north&lng=1", { lat: [expect.any(String)] }],
  ])("%s is refused by the field, and the geocoder not asked", async (path, errors) => {
    const count = await asked(async () => {
      const { status, body } = await get(`/v1/addresses${path}`);
      expect({ status, errors: body.errors }).toEqual({ status: 422, errors });
    });
    expect(count).toBe(0);
  });

  test("what was found is remembered for an hour, whatever its case and blanks, for all workspaces", async () => {
    const other = await service.addWorkspace();
    const same = async () => {
      await get("/v1/addresses?query=east 10th");
      await get("/v1/addresses?query=East%20%20%20%2010TH", other.twin.apiKey);
      await get("/v1/addresses/reverse?lat=40.7300001&lng=-73.986");
      await get("/v1/addresses/reverse?lat=40.73&lng=-73.9860001", other.apiKey);
    };
    expect(await asked(same)).toBe(2);
    clock.ms += 3_599_000;
    expect(await asked(same)).toBe(0);
    clock.ms += 2_000;
    expect(await asked(same)).toBe(2);
  });

  test("a workspace that looks up too much is refused until its bucket has filled, and others are not", async () => {
    const greedy = await service.addWorkspace();
    const lookUp = (n: number, key = greedy.apiKey) =>
      get(`/v1/addresses?query=new york ${n}`, key);
    const statuses = await Promise.all(
      Array.from({ length: 101 }, async (_, n) => (await lookUp(n)).status),
    );
    // Some of so many at once find the geocoder busy.
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
    const message = "The workspace looks up too many addresses; try again in 1 s.";
    const refused = { status: 429, retryAfter: "1", body: errorBody(message) };
    expect(await lookUp(1_000)).toEqual(refused);
    // Neither what is remembered counts, nor what another looks up: the test twin is another.
    const [cached] = statuses.keys().filter((n) => statuses[n] === 200);
    expect((await lookUp(cached!)).status).toBe(200);
    expect((await lookUp(1_001, greedy.twin.apiKey)).status).toBe(200);
    clock.ms += 100;
    expect((await lookUp(1_002)).status).toBe(200);
    expect((await lookUp(1_003)).status).toBe(429);
  });

  test("while the geocoder fails, what needs it is unavailable and says so, by JSON and gRPC", async () => {
    standIn.answer = (response) => response.end("[]");
    const message = "The answer of the geocoder cannot be read. Try again in 1 s.";
    const failed = { status: 503, retryAfter: "1", body: waiting(message) };
    expect(await get("/v1/addresses?query=failing")).toEqual(failed);
    expect(await get("/v1/addresses/reverse?lat=1&lng=1")).toEqual(failed);
    const error = await rpcError(client.searchAddresses({ query: "failing" }));
    expect(error).toMatchObject({
      code: "Unavailable",
      message,
      details: { ErrorInfo: { reason: "UNAVAILABLE", metadata: { waits_for: "geocoder" } } },
    });
    standIn.answer = undefined;
    // No failure is remembered.
    expect((await get("/v1/addresses?query=failing")).status).toBe(200);
  });

  test("while the geocoder wants to be left alone, callers are told until when", async () => {
    expect((await get("/v1/addresses/reverse?lat=0&lng=0")).status).toBe(200);
    standIn.answer = (response) => response.writeHead(429, { "retry-after": "7" }).end();
    const message = (seconds: number) =>
      `The geocoder is asked too often. Try again in ${seconds} s.`;
    const limited = { status: 503, retryAfter: "7", body: waiting(message(7)) };
    expect(await get("/v1/addresses?query=limited")).toEqual(limited);
    standIn.answer = undefined;
    clock.ms += 4_000;
    const rest = { status: 503, retryAfter: "3", body: waiting(message(3)) };
    expect(await get("/v1/addresses?query=limited")).toEqual(rest);
    // What is remembered needs no geocoder.
    expect((await get("/v1/addresses/reverse?lat=0&lng=0", twin.apiKey)).status).toBe(200);
    clock.ms += 3_000;
    expect((await get("/v1/addresses?query=limited")).status).toBe(200);
  });

  test("test mode, keys that read and members of every role may look up", async () => {
    const reads = { name: "Reads", scope: "read_only" };
    const made = await service.request("/v1/api_keys", { apiKey, body: reads });
    for (const key of [twin.apiKey, made.body.api_key]) {
      expect((await get("/v1/addresses?query=karl-marx", key)).status).toBe(200);
    }
    const viewer = await signIn(service, apiKey, { email: "eve@example.org", role: "viewer" });
    const headers = { "x-workspace": String(id) };
    const seen = await viewer.request("/v1/addresses?query=karl-marx", { headers });
    expect(seen).toMatchObject({ status: 200, body: { data: [ALLEE, STRASSE], attribution } });
  });

  test("metrics tell how long the geocoder takes, by what came of it", async () => {
    const count = async (outcome: string) => {
      const metrics = parsePrometheus((await service.request("/metrics")).text);
      const { samples } = metrics.get("shipments_geocoder_request_seconds")!;
      return samples.find(
        ({ name, labels }) =>
          name.endsWith("_count") &&
          labels["outcome"] === outcome &&
          labels["geocoder"] === "photon",
      )?.value;
    };
    const [ok, failed] = [(await count("ok"))!, (await count("failed"))!];
    await get("/v1/addresses?query=measured");
    standIn.answer = (response) => response.writeHead(500).end();
    await get("/v1/addresses?query=measured too");
    standIn.answer = undefined;
    expect([await count("ok"), await count("failed")]).toEqual([ok + 1, failed + 1]);
    expect(await count("limited")).toBeGreaterThan(0);
    expect(await count("unanswered")).toBe(0);
  });
});

describe("without a geocoder", async () => {
  const plain = await sharedService();
  const { apiKey: key } = await plain.addWorkspace();
  const TEXT =
    "The platform has no geocoder: an operator of it sets GEOCODER and GEOCODER_URL to have one.";

  test.each(["/v1/addresses?query=karl", "/v1/addresses/reverse?lat=1&lng=1"])(
    "%s is refused with what an operator would set",
    async (path) => {
      const { status, body, code } = await plain.request(path, { apiKey: key });
      expect({ status, body, code }).toEqual({
        status: 422,
        body: errorBody(TEXT, "geocoder"),
        code: "GEOCODER_NOT_CONFIGURED",
      });
    },
  );

  test("the same is told by gRPC, and the workspace reads that addresses cannot be searched", async () => {
    const client = plain.grpcClient(key, AddressService);
    const refusal = rpcRefusal("FailedPrecondition", "GEOCODER_NOT_CONFIGURED", TEXT, "geocoder");
    expect(await rpcError(client.searchAddresses({ query: "karl" }))).toEqual(refusal);
    expect(await rpcError(client.reverseGeocode({ lat: 1, lng: 1 }))).toEqual(refusal);
    const { body } = await plain.request("/v1/workspace", { apiKey: key });
    expect(body.data.address_search).toBe(false);
  });

  test("the addresses of a customer's shipments are listed, the last that was used first, each once", async () => {
    const own = await plain.addWorkspace();
    const of = { apiKey: own.apiKey };
    const { customer } = await book(plain, own.apiKey);
    const moved = { pickup_address: "1 TIMES Square, New York", pickup_lat: 40.75 };
    await bookAnd(plain, own.apiKey, ["cancel"], { ...moved, dropoff_address: "2 Main St" });
    await book(plain, own.apiKey, { customer_email: "else@example.org", pickup_address: "Else" });
    const { dropoff_lat, dropoff_lng, pickup_lng } = BOOKING;
    const dropoff = { lat: dropoff_lat, lng: dropoff_lng, last_used_at: ANY_TIME };
    const data = [
      { address: moved.pickup_address, lat: 40.75, lng: pickup_lng, last_used_at: ANY_TIME },
      { address: "2 Main St", ...dropoff },
      { address: BOOKING.dropoff_address, ...dropoff },
    ];
    const path = `/v1/customers/${customer.id}/addresses`;
    const { status, body } = await plain.request(path, of);
    expect({ status, body }).toEqual({ status: 200, body: { data } });
    const client = plain.grpcClient(own.apiKey, AddressService);
    const listed = await client.listRecentAddresses({ customer: BigInt(customer.id) });
    expect(inDialect(ListRecentAddressesResponseSchema, listed)).toEqual(body);
    expect(listed.data[0]!.lastUsedAt).toEqual(
      timestampFromDate(new Date(body.data[0].last_used_at)),
    );
    const two = await plain.request(`${path}?limit=2`, of);
    expect(two.body.data).toEqual(body.data.slice(0, 2));
    const none = { status: 200, body: { data: [] } };
    for (const [id, by] of [
      [customer.id, key],
      [2 ** 40, key],
      ["-1", own.apiKey],
    ] as const) {
      const answer = await plain.request(`/v1/customers/${id}/addresses`, { apiKey: by });
      expect({ status: answer.status, body: answer.body }).toEqual(none);
    }
    const many = await plain.request(`${path}?limit=21`, of);
    expect(many.status).toBe(422);
  });
});
