import { expect, test } from "vitest";
import { pathText, problemOfDraft, problemOfFaults, sortFaults } from "../../src/dashboard/tariffs/draft-faults.ts";
import {
  feesOfText,
  gapBefore,
  isSameText,
  tierAfter,
  withSortedTiers,
} from "../../src/dashboard/tariffs/draft-fields.ts";

const fault = (path: string) => ({ $typeName: "shipments.admin.v1.TariffFault", path, text: "must be there" }) as const;

test("separates the faults of zones from those of fees", () => {
  const fees = [fault("currency"), fault("tiers[1].max_kg")];
  const sorted = sortFaults([...fees, fault("zones"), fault("zones[12].geometry"), fault("schedules[0].time_zone")]);
  expect(sorted).toEqual({
    fees,
    schedules: [fault("schedules[0].time_zone")],
    zones: [
      { path: "zones", text: "must be there", index: undefined },
      { path: "zones[12].geometry", text: "must be there", index: 12 },
    ],
  });
});

test("shows the faults of fees at the fields of their paths, as sentences", () => {
  const problem = problemOfFaults([fault("base_fee"), fault("base_fee"), fault("tiers[0].min_kg")]);
  expect(problem?.fields).toEqual({
    base_fee: ["Must be there.", "Must be there."],
    "tiers[0].min_kg": ["Must be there."],
  });
  expect(problemOfFaults([])).toBeUndefined();
});

test("maps a refused request to the form's own fields", () => {
  const problem = {
    ...problemOfFaults([])!,
    fields: { name: ["a"], "fees.tiers[1].max_kg": ["b"] },
  };
  expect(problemOfDraft(problem).fields).toEqual({ name: ["a"], "tiers[1].max_kg": ["b"] });
});

test("accepts decimals with a comma and leaves other text to the service to refuse", () => {
  const tier = {
    ...tierAfter(undefined),
    max_kg: "2,5",
    flat_fee: " 1,50 ",
    rate_per_kg: "1.000,5",
  };
  const text = {
    name: "Spring",
    currency: " usd",
    base_fee: "a lot",
    rate_per_km: "",
    tiers: [tier],
    schedules: [],
    default_schedule: "",
  };
  expect(feesOfText(text)).toEqual({
    currency: "USD",
    baseFee: "a lot",
    ratePerKm: "",
    tiers: [{ minKg: 0, maxKg: 2.5, flatFee: "1.50", ratePerKg: "1.000,5" }],
  });
  // A number with a thousands separator is rejected. The separator is not removed.
  const thousand = { ...tier, max_kg: "1,000", flat_fee: "1,000", rate_per_kg: "1,000.50" };
  expect(feesOfText({ ...text, tiers: [thousand] }).tiers).toEqual([
    { minKg: 0, maxKg: NaN, flatFee: "1,000", ratePerKg: "1,000.50" },
  ]);
});

test("tiers are sorted by their start, those without one last", () => {
  const tiers = ["5", "", "0,5", "x"].map((min_kg) => ({ ...tierAfter(undefined), min_kg }));
  const sorted = withSortedTiers({ tiers });
  expect(sorted.tiers.map(({ min_kg }) => min_kg)).toEqual(["0,5", "5", "", "x"]);
});

test("a tier starts where the previous one ends, and comparing rows ignores their keys", () => {
  const first = { ...tierAfter(undefined), max_kg: "5" };
  const next = tierAfter(first);
  expect(next).toMatchObject({ min_kg: "5", max_kg: "" });
  const schedules = { schedules: [], default_schedule: "" };
  const text = { name: "", currency: "", base_fee: "", rate_per_km: "", tiers: [first], ...schedules };
  expect(isSameText(text, { ...text, tiers: [{ ...first, key: -1 }] })).toBe(true);
  expect(isSameText(text, { ...text, tiers: [next] })).toBe(false);
});

test("a fault has the page's label instead of a field name", () => {
  const labels = {
    base_fee: "Minimum charge",
    tiers: "Weight tiers",
    "tiers[0].max_kg": "Weight tier 1, limit",
    "zones[12].geometry": "Zone 13",
    "schedules[1].hours[2].opens": "Schedule 2, weekly hours",
    default_schedule: "Default schedule",
    document: "Tariff",
  };
  expect(Object.fromEntries(Object.keys(labels).map((path) => [path, pathText(path)]))).toEqual(labels);
});

test("gaps between tiers are reported before the tier after the gap", () => {
  const tiers = [
    ["1", "5"],
    ["5", "10,5"],
    ["20", ""],
    ["30", "40"],
  ].map(([min_kg, max_kg], key) => ({
    ...tierAfter(undefined),
    key,
    min_kg: min_kg!,
    max_kg: max_kg!,
  }));
  expect(tiers.map((_, i) => gapBefore(tiers, i))).toEqual(["0 to 1 kg", undefined, "10.5 to 20 kg", undefined]);
});
