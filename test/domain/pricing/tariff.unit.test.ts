import { describe, expect, test } from "vitest";
import { ring } from "../../support/tariffs.ts";
import { parseTariff } from "../../../src/domain/pricing/tariff.ts";

const SQUARE = ring("0 0, 1 0, 1 1, 0 1, 0 0");
const TIER = { min_kg: 0, max_kg: 5, flat_fee: "0.25", rate_per_kg: "0.50" };
const ZONES = {
  type: "FeatureCollection",
  features: [
    {
      type: "Feature",
      properties: { name: "Kings" },
      geometry: { type: "Polygon", coordinates: [SQUARE] },
    },
  ],
};
const DOCUMENT = {
  currency: "USD",
  base_fee: "5.00",
  rate_per_km: "1.2",
  tiers: [TIER],
  zones: ZONES,
};

test("parseTariff reads fees in minor units and rates in millionths and ignores unknown keys", () => {
  expect(parseTariff({ ...DOCUMENT, source: "a map", tiers: [{ ...TIER, note: 1 }] })).toEqual({
    tariff: {
      currency: "USD",
      minorDigits: 2,
      baseFeeMinor: 500,
      ratePerKmMillionths: 1_200_000,
      tiers: [{ minKg: 0, maxKg: 5, flatFeeMinor: 25, ratePerKgMillionths: 500_000 }],
      zones: [{ id: "z_b4b994a24501", name: "Kings", polygons: [[SQUARE]] }],
    },
  });
});

test.each([
  ["JPY", "1000", 0, 1000],
  ["KWD", "1.234", 3, 1234],
  ["CLF", "0.0001", 4, 1],
  ["USD", "1000000.00", 2, 100_000_000],
])("parseTariff reads amounts in %s in its minor unit", (currency, base_fee, minorDigits, baseFeeMinor) => {
  const tiers = [{ ...TIER, flat_fee: "1", rate_per_kg: "1" }];
  const { tariff } = parseTariff({ ...DOCUMENT, currency, base_fee, rate_per_km: "1", tiers });
  expect(tariff).toMatchObject({ currency, minorDigits, baseFeeMinor });
});

test.each([
  ["JPY", "33.3", 33_300_000],
  ["JPY", "33", 33_000_000],
  ["USD", "0.00125", 1250],
  ["USD", "0.000001", 1],
  ["KWD", "1.2", 1_200_000],
  ["CLF", "1000000.000000", 1_000_000_000_000],
])("parseTariff reads rates in %s of %s, whatever the minor unit", (currency, rate, millionths) => {
  const tiers = [{ ...TIER, flat_fee: "0", rate_per_kg: rate }];
  const document = { ...DOCUMENT, currency, base_fee: "5", rate_per_km: rate, tiers };
  expect(parseTariff(document).tariff).toMatchObject({
    ratePerKmMillionths: millionths,
    tiers: [{ ratePerKgMillionths: millionths }],
  });
});

test("parseTariff accepts a suspended service, without tiers or zones", () => {
  const { tariff } = parseTariff({ ...DOCUMENT, tiers: [], zones: { ...ZONES, features: [] } });
  expect(tariff).toMatchObject({ tiers: [], zones: [] });
});

test("parseTariff accepts tiers that touch, leave gaps, start above 0 or have fractions", () => {
  const ranges = [
    [0.5, 5.25],
    [5.25, 10],
    [20, 100_000],
  ];
  const tiers = ranges.map(([min_kg, max_kg]) => ({ ...TIER, min_kg, max_kg }));
  expect(parseTariff({ ...DOCUMENT, tiers }).tariff?.tiers.map((t) => [t.minKg, t.maxKg])).toEqual(ranges);
});

const AMOUNT = 'must be a decimal string of 0 or more, such as "5.00"; it is';
const CURRENCY = 'must be an active ISO 4217 code with a minor unit, such as "USD"; it is';
const WEIGHT = "must be a number from 0 to 100000; it is";
const fine = (most: string, currency: string, shown: string) =>
  `must have ${most} decimals in ${currency}; it is "${shown}"; round it; only rates can have more decimals`;
const finer = (shown: string) => `must have at most 6 decimals; it is "${shown}"; round it`;
const ORDER = "put the tiers in ascending order and without overlap";
const MOST = "must be at most 1000000; it is";
const TIERS = "must be a list of at most 1000 tiers; it";

describe("refuses, with the path, the problem and the fix", () => {
  test.each<[string, string, object]>([
    ["currency", `${CURRENCY} missing`, { currency: undefined }],
    // An invalid currency is the only error reported.
    ["currency", `${CURRENCY} "usd"`, { currency: "usd" }],
    ["currency", `${CURRENCY} "XAU"`, { currency: "XAU" }],
    ["currency", `${CURRENCY} a list`, { currency: ["USD"] }],
    ["base_fee", `${AMOUNT} missing`, { base_fee: undefined }],
    ["base_fee", `${AMOUNT} 5`, { base_fee: 5 }],
    ["rate_per_km", `${AMOUNT} "-1.00"`, { rate_per_km: "-1.00" }],
    ["rate_per_km", `${AMOUNT} "1e2"`, { rate_per_km: "1e2" }],
    ["base_fee", fine("at most 2", "USD", "5.001"), { base_fee: "5.001" }],
    ["base_fee", fine("no", "JPY", "5.0"), { currency: "JPY", rate_per_km: "1", tiers: [], base_fee: "5.0" }],
    ["base_fee", `${MOST} "1000000.01"`, { base_fee: "1000000.01" }],
    ["base_fee", `${MOST} "${"9".repeat(40)}"`, { base_fee: "9".repeat(40) }],
    ["rate_per_km", finer("0.0000005"), { rate_per_km: "0.0000005" }],
    ["rate_per_km", `${MOST} "1000000.000001"`, { rate_per_km: "1000000.000001" }],
    ["tiers", `${TIERS} is missing`, { tiers: undefined }],
    ["tiers", `${TIERS} has 1001`, { tiers: Array.from({ length: 1001 }, () => TIER) }],
    ["tiers[0]", "must be an object; it is null", { tiers: [null] }],
    ["zones", 'must be a GeoJSON object of type "FeatureCollection"', { zones: undefined }],
  ])("%s %s", (path, text, change) => {
    expect(parseTariff({ ...DOCUMENT, ...change })).toEqual({ faults: [{ path, text }] });
  });

  const END = "the end of the previous tier";
  test.each<[string, string, object[]]>([
    ["tiers[1].flat_fee", `${AMOUNT} 1`, [{}, { min_kg: 5, max_kg: 9, flat_fee: 1 }]],
    ["tiers[0].flat_fee", fine("at most 2", "USD", "0.005"), [{ flat_fee: "0.005" }]],
    ["tiers[0].rate_per_kg", finer("0.1234567"), [{ rate_per_kg: "0.1234567" }]],
    ["tiers[0].min_kg", `${WEIGHT} -1`, [{ min_kg: -1 }]],
    ["tiers[0].max_kg", `${WEIGHT} "5"`, [{ max_kg: "5" }]],
    ["tiers[0].max_kg", `${WEIGHT} NaN`, [{ max_kg: NaN }]],
    ["tiers[0].max_kg", `${WEIGHT} 100000.5`, [{ max_kg: 100_000.5 }]],
    ["tiers[0].max_kg", "must be above min_kg, which is 5; it is 5", [{ min_kg: 5 }]],
    ["tiers[0].max_kg", "must be above min_kg, which is 6; it is 5", [{ min_kg: 6 }]],
    ["tiers[1].min_kg", `must be at least 5, ${END}; it is 4.5; ${ORDER}`, [{}, { min_kg: 4.5, max_kg: 9 }]],
    ["tiers[1].min_kg", `must be at least 9, ${END}; it is 0; ${ORDER}`, [{ min_kg: 5, max_kg: 9 }, {}]],
  ])("%s %s", (path, text, changes) => {
    const tiers = changes.map((change) => ({ ...TIER, ...change }));
    expect(parseTariff({ ...DOCUMENT, tiers })).toEqual({ faults: [{ path, text }] });
  });

  test.each([undefined, null, 5, "{}", []])("a document of %j", (document) => {
    expect(parseTariff(document)).toEqual({
      faults: [{ path: "document", text: expect.stringMatching("^must be a JSON object; it is ") }],
    });
  });

  test.each([
    ["XXX", "most currencies", "at most 2", "5.001"],
    [undefined, "most currencies", "at most 2", "5.001"],
    ["jpy", "JPY", "no", "5.0"],
    [" kwd ", "KWD", "at most 3", "5.0001"],
  ])("fees with too many decimals and the unknown currency %j", (currency, suggestion, most, base_fee) => {
    const tiers = [{ ...TIER, flat_fee: "0", rate_per_kg: "0.000001" }];
    expect(parseTariff({ ...DOCUMENT, currency, base_fee, tiers })).toEqual({
      faults: [
        { path: "currency", text: expect.stringMatching("^must be an active ISO 4217 code") },
        { path: "base_fee", text: fine(most, suggestion, base_fee) },
      ],
    });
  });

  test("all faults together, in document order", () => {
    const upsideDown = { ...TIER, min_kg: 4, max_kg: 3, flat_fee: "" };
    const overlapping = parseTariff({ ...DOCUMENT, tiers: [TIER, upsideDown, upsideDown] });
    expect(overlapping.faults?.map((fault) => fault.path)).toEqual([
      "tiers[1].min_kg",
      "tiers[1].max_kg",
      "tiers[1].flat_fee",
      "tiers[2].max_kg",
      "tiers[2].flat_fee",
    ]);
    expect(parseTariff({ tiers: [{}], zones: {} }).faults?.map((fault) => fault.path)).toEqual([
      "currency",
      "base_fee",
      "rate_per_km",
      "tiers[0].min_kg",
      "tiers[0].max_kg",
      "tiers[0].flat_fee",
      "tiers[0].rate_per_kg",
      "zones",
    ]);
  });

  test("and reports at most a hundred faults", () => {
    expect(parseTariff({ tiers: Array.from({ length: 1000 }, () => ({})) }).faults?.length).toBe(100);
  });
});
