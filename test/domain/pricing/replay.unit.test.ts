import { describe, expect, test } from "vitest";
import { createPricing } from "../../../src/domain/pricing/pricing.ts";
import { replayShipments } from "../../../src/domain/pricing/replay.ts";
import { parseTariff } from "../../../src/domain/pricing/tariff.ts";
import { worldTariff } from "../../support/tariffs.ts";

/** Returns a worldwide tariff that charges by weight only. */
function perKg(rate: string, currency = "USD") {
  const tiers = [{ min_kg: 0, max_kg: 100_000, flat_fee: "0", rate_per_kg: rate }];
  return createPricing(parseTariff(worldTariff({ tiers, currency })).tariff!);
}

const HERE = { lat: 0, lng: 0 };

function shipment(reference: string, weightKg: number, workspace = 1) {
  const windows = { pickup: undefined, dropoff: undefined };
  return {
    workspace,
    reference,
    route: { pickup: HERE, dropoff: HERE, weightKg },
    windows,
    atMs: 0,
    isCancelled: false,
  };
}

function compare(before: string, after: string, shipments = [shipment("A", 100)]) {
  const tariffs = { inForce: perKg(before), ofDraft: perKg(after) };
  return replayShipments(tariffs, shipments).comparison!;
}

describe("counts a price change", () => {
  test.each([
    ["2", "0", undefined, -50],
    ["2", "1", undefined, -50],
    ["2", "1.0001", -50, -20],
    ["1", "0.8", -50, -20],
    ["1", "0.8001", -20, -10],
    ["1", "0.9", -20, -10],
    ["1", "0.9001", -10, -5],
    ["1", "0.95", -10, -5],
    ["1", "0.9501", -5, -1],
    ["1", "0.99", -5, -1],
    ["1", "0.9901", -1, 0],
    ["1", "0.9999", -1, 0],
    ["1", "1.00001", 0, 0], // Less than half a cent.
    ["0", "0", 0, 0],
    ["1", "1.0001", 0, 1],
    ["1", "1.01", 0, 1],
    ["1", "1.0101", 1, 5],
    ["1", "1.05", 1, 5],
    ["1", "1.0501", 5, 10],
    ["1", "1.1", 5, 10],
    ["1", "1.1001", 10, 20],
    ["1", "1.2", 10, 20],
    ["1", "1.2001", 20, 50],
    ["1", "1.5", 20, 50],
    ["1", "1.5001", 50, undefined],
    ["0", "0.0001", 50, undefined],
  ])("from %s to %s in the bucket above %s and up to %s percent", (before, after, abovePercent, upToPercent) => {
    const { distribution } = compare(before, after);
    expect(distribution.filter(({ routes }) => routes > 0)).toEqual([{ abovePercent, upToPercent, routes: 1 }]);
  });
});

test("returns buckets in ascending order, including empty ones", () => {
  expect(compare("1", "1", []).distribution).toEqual(
    [
      [undefined, -50],
      [-50, -20],
      [-20, -10],
      [-10, -5],
      [-5, -1],
      [-1, 0],
      [0, 0],
      [0, 1],
      [1, 5],
      [5, 10],
      [10, 20],
      [20, 50],
      [50, undefined],
    ].map(([abovePercent, upToPercent]) => ({ abovePercent, upToPercent, routes: 0 })),
  );
});

test("returns the 20 largest changes by size, up or down, then by reference and workspace", () => {
  const references = Array.from({ length: 25 }, (_, i) => `S${String(i).padStart(2, "0")}`);
  const alike = references.toReversed().map((reference) => shipment(reference, 1));
  const { largest } = compare("1", "2", [...alike, shipment("S00", 1, 0), shipment("Z", 50), shipment("Y", 51)]);
  expect(largest.map(({ workspace, reference }) => `${workspace} ${reference}`)).toEqual([
    "1 Y",
    "1 Z",
    "0 S00",
    ...references.slice(0, 17).map((reference) => `1 ${reference}`),
  ]);
  expect(largest[0]).toEqual({
    workspace: 1,
    reference: "Y",
    inForceMinor: 5_100,
    ofDraftMinor: 10_200,
  });
});

test("unchanged prices are not among the largest changes", () => {
  expect(compare("1", "1.001", [shipment("A", 1), shipment("B", 10)]).largest).toMatchObject([{ reference: "B" }]);
});

test("lists the newest 20 shipments that only the draft refuses, with the reason", () => {
  const heavy = Array.from({ length: 25 }, (_, i) => shipment(`H${25 - i}`, 11, 7));
  const tiers = [{ min_kg: 0, max_kg: 10, flat_fee: "0", rate_per_kg: "1" }];
  const ofDraft = createPricing(parseTariff(worldTariff({ tiers })).tariff!);
  const tariffs = { inForce: perKg("1"), ofDraft };
  const replay = replayShipments(tariffs, [shipment("L", 10), ...heavy]);
  expect(replay).toMatchObject({ routes: 26, servedByBoth: 1, newlyCovered: 0, newlyRefused: 25 });
  expect(replay.comparison!.refused).toEqual(
    Array.from({ length: 20 }, (_, i) => ({
      workspace: 7,
      reference: `H${25 - i}`,
      inForceMinor: 1_100,
      message: "No pricing tier covers 11 kg; weights above 0 kg and up to 10 kg are served.",
      failure: "weight",
    })),
  );
  const reverse = { inForce: ofDraft, ofDraft: perKg("1") };
  expect(replayShipments(reverse, heavy)).toMatchObject({ newlyCovered: 25, newlyRefused: 0 });
});

test("totals are exact above 2^53", () => {
  // An odd sum that a double cannot represent.
  const many = Array.from({ length: 1_001 }, (_, i) => shipment(String(i), 99_999.99));
  expect(compare("900001.01", "900001.01", many)).toMatchObject({
    totalInForceMinor: 1_001n * 9_000_009_199_999n,
    totalOfDraftMinor: 1_001n * 9_000_009_199_999n,
  });
});

test("compares no prices if the currencies differ", () => {
  const tariffs = { inForce: perKg("1", "USD"), ofDraft: perKg("1", "JPY") };
  expect(replayShipments(tariffs, [shipment("A", 1)])).toEqual({
    routes: 1,
    servedByBoth: 1,
    newlyCovered: 0,
    newlyRefused: 0,
    slotFull: 0,
    currencyInForce: "USD",
    currencyOfDraft: "JPY",
    comparison: undefined,
  });
});
