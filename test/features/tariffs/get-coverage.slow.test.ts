import { describe, expect, test } from "vitest";
import { CoverageService } from "../../../gen/shipments/v1/coverage_service_pb.js";
import { coverageDocument } from "../../../src/features/tariffs/tasks/coverage-document.ts";
import { validZones } from "../../../src/domain/coverage/parse-zones.ts";
import { countyTariff } from "../../support/county-tariff.ts";
import { expectRefused } from "../../support/answers.ts";
import { eventually } from "../../support/eventually.ts";
import { startReplica, startService, type TestService } from "../../support/service.ts";
import { square, worldTariff, zonesOf } from "../../support/tariffs.ts";

const COUNTIES = countyTariff() as { zones: object };

const service = await startService({ tariff: COUNTIES });
const { apiKey } = await service.addWorkspace();

const get = (tolerance_m?: unknown, headers: Record<string, string> = {}) =>
  service.as(apiKey).getCoverage({ tolerance_m }, { "accept-encoding": "identity", ...headers });

describe("the coverage of the tariff in force", () => {
  test.each([
    [undefined, 0],
    [0.5, 0],
    [1_000, 1_000],
    [1_999.9, 1_000],
  ])("contains its zones as GeoJSON, with a tolerance of %s", async (requested, toleranceM) => {
    const { status, headers, text } = await get(requested);
    expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
      200,
      "application/geo+json",
      "private, no-cache",
    ]);
    expect(text === coverageDocument(validZones(COUNTIES.zones), toleranceM)).toBe(true);
    const tag = new RegExp(`^"1-${toleranceM}-[\\w-]{16}"$`);
    expect(headers.get("etag")).toMatch(tag);
  });

  test("is the same over gRPC, with the version and the applied tolerance", async () => {
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
      const { text } = await get(applied);
      expect(Buffer.from(geojson).toString() === text).toBe(true);
    }
  });

  test("is compressed on request, and not sent again if it has not changed", async () => {
    const answer = await fetch(`${service.httpUrl}/v1/coverage?tolerance_m=1000`, {
      headers: { "x-api-key": apiKey, "accept-encoding": "gzip" },
    });
    const plain = await get(1_000);
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    expect((await answer.text()) === plain.text).toBe(true);
    expect(Number(answer.headers.get("content-length"))).toBeLessThan(plain.text.length / 3);
    const etag = plain.headers.get("etag")!;
    const again = await get(1_000, { "if-none-match": etag });
    expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
    expect((await get(2_000, { "if-none-match": etag })).status).toBe(200);
  });

  test("is built once for concurrent requests", async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => get(50_000)));
    const etags = new Set(responses.map(({ status, headers }) => `${status} ${headers.get("etag")}`));
    expect(etags.size).toBe(1);
  });

  test.each([
    [-1, "tolerance_m must be greater than or equal to 0 and less than or equal to 100000."],
    [100_001, "tolerance_m must be greater than or equal to 0 and less than or equal to 100000."],
    ["far", "tolerance_m must be a number."],
  ])("is rejected for a tolerance of %s", async (toleranceM, text) => {
    await expectRefused(get(toleranceM), "FIELD_INVALID", { tolerance_m: text });
  });

  test("is counted as a read", async () => {
    const { headers } = await get();
    expect(headers.get("ratelimit-policy")).toMatch(/^"read";/);
  });
});

test("every replica soon serves a new version's coverage with a new entity tag", async () => {
  const first = await startService({ tariff: worldTariff() });
  const { apiKey: key } = await first.addWorkspace();
  const ask = (replica: TestService, headers = {}) => replica.as(key).getCoverage({}, headers);
  const before = await ask(first);
  expect(before.headers.get("etag")).toMatch(/^"1-0-/);
  const zones = zonesOf(square(1, 2, 3, 4));
  // The replica publishes its tariff when it starts.
  const second = await startReplica(first.databaseUrl, { tariff: worldTariff({ zones }) });
  for (const replica of [first, second]) {
    await eventually("the new coverage", async () => (await ask(replica)).headers.get("etag")?.startsWith('"2-0-'));
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
  const stale = { "if-none-match": before.headers.get("etag")! };
  expect((await ask(first, stale)).status).toBe(200);
});
