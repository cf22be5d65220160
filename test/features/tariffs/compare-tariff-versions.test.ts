import { expect, test } from "vitest";
import { expectRefused } from "../../support/answers.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { startService } from "../../support/service.ts";
import { SAMPLE_TARIFF, square, worldTariff, zonesOf } from "../../support/tariffs.ts";

const service = await startService();
const { compareTariffVersions } = service.as((await service.addOperator("viewer")).key);
// Version 1 is the sample tariff.
const zones = zonesOf(square(0, 0, 1, 1), square(2, 0, 3, 1));
await publishDocument(service.app.em, worldTariff({ zones, base_fee: "31.00" }));
await publishDocument(service.app.em, SAMPLE_TARIFF);

const compare = (from_version?: number, to_version?: number) => compareTariffVersions({ from_version, to_version });

/** Returns the expected differences between zones. */
const zonesIn = (unchanged_count: number, added: string[] = [], removed: string[] = []) => ({
  added,
  removed,
  changed: [],
  added_count: added.length,
  removed_count: removed.length,
  changed_count: 0,
  unchanged_count,
});

test("compares two versions by fees, tiers and zones", async () => {
  const change = (path: string, before: string, after: string | null) => ({ path, before, after });
  expect((await compare(1, 2)).body).toEqual({
    fees: [
      change("base_fee", "5.00", "31.00"),
      change("rate_per_km", "1.20", "0"),
      change("tiers[0].max_kg", "5", "1000"),
      change("tiers[0].flat_fee", "0.00", "0"),
      change("tiers[0].rate_per_kg", "0.50", "0"),
      change("tiers[1]", '{"min_kg":5,"max_kg":20,"flat_fee":"1.50","rate_per_kg":"0.40"}', null),
      change("tiers[2]", '{"min_kg":20,"max_kg":50,"flat_fee":"4.00","rate_per_kg":"0.35"}', null),
    ],
    zones: zonesIn(0, ["Zone 1", "Zone 2"], ["Bronx", "Kings", "New York", "Queens", "Richmond"]),
    schedules: [],
  });
});

test.each([
  [1, 3, 5],
  [2, 2, 2],
])("returns no differences between versions %i and %i, which are equal", async (from, to, unchanged) => {
  const { body } = await compare(from, to);
  expect(body).toEqual({ fees: [], zones: zonesIn(unchanged), schedules: [] });
});

test("reports each missing version by its field", async () => {
  const none = (version: number) => `There is no tariff version ${version}.`;
  await expectRefused(compare(1, 9), "TARIFF_VERSION_NOT_FOUND", { to_version: none(9) });
  await expectRefused(compare(0, -1), "TARIFF_VERSION_NOT_FOUND", {
    from_version: none(0),
    to_version: none(-1),
  });
  const required = { from_version: "from_version is required." };
  await expectRefused(compare(undefined, 1), "FIELD_INVALID", required);
  const most = 2_147_483_647;
  await expectRefused(compare(most, 1), "TARIFF_VERSION_NOT_FOUND", { from_version: none(most) });
});
