import { describe, expect, test } from "vitest";
import { CoverageService } from "../../../gen/shipments/v1/coverage_service_pb.js";
import { coverageDocument } from "../../../src/features/tariffs/tasks/coverage-document.ts";
import { validZones } from "../../../src/domain/coverage/parse-zones.ts";
import { countyTariff } from "../../support/county-tariff.ts";
import { eventually } from "../../support/eventually.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { startReplica, startService, type TestService } from "../../support/service.ts";
import { square, worldTariff, zonesOf } from "../../support/tariffs.ts";

const COUNTIES = countyTariff() as { zones: object };

const service = await startService({ tariff: COUNTIES });
const { apiKey } = await service.addWorkspace();

const get = (query = "", headers: Record<string, string> = {}) =>
  service.request(`/v1/coverage${query}`, {
    apiKey,
    headers: { "accept-encoding": "identity", ...headers },
  });

describe("the coverage of a tariff in force", () => {
  test.each([
    ["", 0],
    ["?tolerance_m=0.5", 0],
    ["?tolerance_m=1000", 1_000],
    ["?tolerance_m=1999.9", 1_000],
  ])("is its zones as GeoJSON, to a tolerance: %s", async (query, toleranceM) => {
    const { status, headers, text } = await get(query);
    expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
      200,
      "application/geo+json",
      "private, no-cache",
    ]);
    expect(text === coverageDocument(validZones(COUNTIES.zones), toleranceM)).toBe(true);
    const tag = new RegExp(`^"1-${toleranceM}-[\\w-]{16}"$`);
    expect(headers.get("etag")).toMatch(tag);
  });

  test("is the same by gRPC, with the version and the tolerance that was applied", async () => {
    const client = service.grpcClient(apiKey, CoverageService);
    for (const [toleranceM, applied] of [
      [undefined, 0],
      [3_333, 2_000],
    ] as const) {
      const { geojson, ...rest } = await client.getCoverage({ toleranceM });
      expect(rest).toEqual({
        $typeName: "shipments.v1.GetCoverageResponse",
        tariffVersion: 1,
        toleranceM: applied,
      });
      const { text } = await get(`?tolerance_m=${applied}`);
      expect(Buffer.from(geojson).toString() === text).toBe(true);
    }
  });

  test("is compressed on request, and not sent again to those that have it", async () => {
    const answer = await fetch(`${service.httpUrl}/v1/coverage?tolerance_m=1000`, {
      headers: { "x-api-key": apiKey, "accept-encoding": "gzip" },
    });
    const plain = await get("?tolerance_m=1000");
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    expect((await answer.text()) === plain.text).toBe(true);
    expect(Number(answer.headers.get("content-length"))).toBeLessThan(plain.text.length / 3);
    const etag = plain.headers.get("etag")!;
    const again = await get("?tolerance_m=1000", { "if-none-match": etag });
    expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
    expect((await get("?tolerance_m=2000", { "if-none-match": etag })).status).toBe(200);
  });

  test("is made once for all that ask for it at once", async () => {
    const asked = await Promise.all(Array.from({ length: 20 }, () => get("?tolerance_m=50000")));
    const etags = new Set(asked.map(({ status, headers }) => `${status} ${headers.get("etag")}`));
    expect(etags.size).toBe(1);
  });

  test.each([
    ["-1", "tolerance_m must be greater than or equal to 0 and less than or equal to 100000."],
    ["100001", "tolerance_m must be greater than or equal to 0 and less than or equal to 100000."],
    ["far", "tolerance_m must be a number."],
  ])("is refused to a tolerance of %s", async (toleranceM, text) => {
    const { status, body } = await get(`?tolerance_m=${toleranceM}`);
    expect([status, body]).toEqual([422, { message: text, errors: { tolerance_m: [text] } }]);
  });

  test("is refused without a key that works", async () => {
    const { status, body } = await service.request("/v1/coverage", {});
    expect([status, body.errors]).toEqual([401, {}]);
    const { key } = await service.addOperator();
    expect((await service.request("/v1/coverage", { apiKey: key })).status).toBe(401);
    const client = service.grpcClient(key, CoverageService);
    expect((await rpcError(client.getCoverage({}))).code).toBe("Unauthenticated");
  });

  test("is refused to a suspended workspace", async () => {
    const suspended = await service.addWorkspace();
    const sql = "update workspace set suspended_at = now() where id = ?";
    await service.app.em.fork().execute(sql, [suspended.id]);
    const { status, body } = await service.request("/v1/coverage", { apiKey: suspended.apiKey });
    const text = "The workspace is suspended: its calls are refused until the platform resumes it.";
    expect([status, body]).toEqual([403, { message: text, errors: {} }]);
    const client = service.grpcClient(suspended.apiKey, CoverageService);
    expect((await rpcError(client.getCoverage({}))).code).toBe("PermissionDenied");
  });

  test("is counted as a read", async () => {
    const { headers } = await get();
    expect(headers.get("ratelimit-policy")).toMatch(/^"read";/);
  });
});

test("a new version's coverage is served by every replica soon after it is published, under another entity tag", async () => {
  const first = await startService({ tariff: worldTariff() });
  const { apiKey: key } = await first.addWorkspace();
  const ask = (replica: TestService) => replica.request("/v1/coverage", { apiKey: key });
  const before = await ask(first);
  expect(before.headers.get("etag")).toMatch(/^"1-0-/);
  const zones = zonesOf(square(1, 2, 3, 4));
  // A replica that starts publishes its tariff.
  const second = await startReplica(first.databaseUrl, { tariff: worldTariff({ zones }) });
  for (const replica of [first, second]) {
    await eventually("the new coverage", async () =>
      (await ask(replica)).headers.get("etag")?.startsWith('"2-0-'),
    );
  }
  const [one, other] = [await ask(first), await ask(second)];
  expect(one.body).toEqual({
    type: "FeatureCollection",
    features: [
      {
        type: "Feature",
        id: expect.stringMatching(/^z_[0-9a-f]{12}$/),
        properties: { name: "Zone 1" },
        geometry: { type: "Polygon", coordinates: square(1, 2, 3, 4) },
      },
    ],
  });
  expect([other.text, other.headers.get("etag")]).toEqual([one.text, one.headers.get("etag")]);
  const etag = before.headers.get("etag")!;
  const stale = await first.request("/v1/coverage", {
    apiKey: key,
    headers: { "if-none-match": etag },
  });
  expect(stale.status).toBe(200);
});
