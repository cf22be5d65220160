import { expect, test, vi } from "vitest";
import { publishDocument } from "../../support/publish-document.ts";
import { COVERED_ROUTE } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startService } from "../../support/service.ts";
import { worldTariff, zonesOf } from "../../support/tariffs.ts";

const service = await startService();
const { apiKey } = await service.addWorkspace();
const database = await connectTo(service.databaseUrl);

const quote = async (route: object) => (await service.request("/v1/shipments/quote", { apiKey, body: route })).body;

/** Returns a closed ring with a radius of one degree around a point. */
function circle(lng: number, lat: number, positions: number): [number, number][] {
  const ring = Array.from({ length: positions - 1 }, (_, i): [number, number] => {
    const angle = (2 * Math.PI * i) / (positions - 1);
    return [lng + Math.cos(angle), lat + Math.sin(angle)];
  });
  return [...ring, ring[0]!];
}

async function untilBaseFeeIs(fee: number): Promise<void> {
  await eventually(`a base fee of ${fee}`, async () => (await quote(COVERED_ROUTE)).base_fee === fee);
}

test("loads a large tariff without parsing it in the main thread, and prices like a small one", async () => {
  const zones = zonesOf([circle(-74, 40.7, 100_000)], [circle(0, 0, 50)]);
  const parse = vi.spyOn(JSON, "parse");
  expect(await publishDocument(service.app.em, worldTariff({ zones, base_fee: "31.00" }))).toMatchObject({ zones: 2 });
  await untilBaseFeeIs(31);
  const longest = Math.max(...parse.mock.calls.map(([text]) => text.length));
  parse.mockRestore();

  expect(longest).toBeLessThan(100_000);
  expect(await quote(COVERED_ROUTE)).toMatchObject({ covered: true });
  expect(await quote({ ...COVERED_ROUTE, dropoff_lat: 0, dropoff_lng: 0.5 })).toMatchObject({
    covered: true,
  });
  expect(await quote({ ...COVERED_ROUTE, dropoff_lat: 0, dropoff_lng: 2 })).toMatchObject({
    covered: false,
    message: expect.stringMatching(/^The dropoff point is outside .*, 11\d km from the nearest one/),
  });
});

test.each([
  ["small", 5],
  ["large", 5_000],
])("does not check the zones of a %s published tariff again when loading it", async (_, n) => {
  const crossing: [number, number][] = [...circle(-74, 40.7, n), [10, 0], [-74, 41], [-73, 40.7]];
  const { rows } = await database.query("select max(version) + 1 as version from tariff_version");
  await database.query(
    `insert into tariff_version (version, document, digest, published_at) values ($1, $2, $3, now())`,
    [rows[0].version, JSON.stringify(worldTariff({ zones: zonesOf([crossing]), base_fee: `${n}.00` })), `${n}`],
  );
  await untilBaseFeeIs(n);
  const { text } = await service.request("/metrics");
  expect(text).toContain(`\nshipments_tariff_version ${rows[0].version}\n`);
});

test("keeps the previous tariff if the new one cannot be loaded, and still applies key changes", async () => {
  const inUse = (await quote(COVERED_ROUTE)).base_fee;
  await database.query(
    `insert into tariff_version (version, document, digest, published_at)
     select max(version) + 1, '{"currency":"XXX"}', 'broken', now() from tariff_version`,
  );
  const { id, apiKey: ending } = await service.addWorkspace();
  await service.request("/v1/workspace", { apiKey: ending });
  await database.query("update api_key set ends_at = now(), changed_at = now() where workspace_id = $1", [id]);
  await eventually("the key to end", async () => {
    const { status } = await service.request("/v1/workspace", { apiKey: ending });
    return status === 401;
  });
  expect((await quote(COVERED_ROUTE)).base_fee).toBe(inUse);
});
