import { describe, expect, test } from "vitest";
import { QuoteShipmentResponseSchema } from "../../../gen/shipments/v1/quote_pb.js";
import { compileEncodeJson } from "../../../src/json/encode-json.ts";
import { COVERED_ROUTE, RPC_ROUTE, WITHOUT_WINDOWS } from "../../support/bookings.ts";
import { sharedService, startService } from "../../support/service.ts";
import { square, worldTariff, zonesOf } from "../../support/tariffs.ts";

const QUOTE = "/v1/shipments/quote";
const AT_SEA = { lat: 40.5, lng: -73.5 };

const service = await sharedService();
const { apiKey } = await service.addWorkspace();

async function quote(changes: object) {
  const body = { ...COVERED_ROUTE, ...changes };
  return (await service.request(QUOTE, { apiKey, body })).body;
}

const NOT_COVERED = {
  covered: false,
  distance_km: 0,
  distance_fee: 0,
  weight_fee: 0,
  base_fee: 5,
  subtotal: 0,
  total: 0,
  currency: "USD",
  ...WITHOUT_WINDOWS,
};

test("a quote of a covered route has all its fees", async () => {
  const answer = await service.request(QUOTE, { apiKey, body: COVERED_ROUTE });
  expect(answer.status).toBe(200);
  expect(answer.body).toStrictEqual({
    covered: true,
    message: null,
    failure_type: null,
    distance_km: 9.532,
    distance_fee: 11.44,
    weight_fee: 1.25,
    base_fee: 5,
    subtotal: 12.69,
    total: 12.69,
    currency: "USD",
    ...WITHOUT_WINDOWS,
  });
});

test("a quote by gRPC equals one by JSON", async () => {
  const response = await service.grpcClient(apiKey).quoteShipment(RPC_ROUTE);
  const encode = compileEncodeJson(QuoteShipmentResponseSchema);
  expect(encode(response)).toStrictEqual(await quote({}));
});

describe("a quote with a point outside every zone is not covered, and the message names the point", () => {
  const away = (end: string) => ({ [`${end}_lat`]: AT_SEA.lat, [`${end}_lng`]: AT_SEA.lng });
  test.each([
    [
      "the pickup",
      away("pickup"),
      "The pickup point is outside the coverage zones, 23 km from the nearest one.",
    ],
    [
      "the dropoff",
      away("dropoff"),
      "The dropoff point is outside the coverage zones, 23 km from the nearest one.",
    ],
    [
      "both",
      { ...away("pickup"), ...away("dropoff") },
      "The pickup and dropoff points are outside the coverage zones, 23 km and 23 km from the nearest one.",
    ],
    [
      "the dropoff, and the weight is too much as well",
      { ...away("dropoff"), weight_kg: 1_000 },
      "The dropoff point is outside the coverage zones, 23 km from the nearest one.",
    ],
  ])("%s", async (_, changes, message) => {
    expect(await quote(changes)).toStrictEqual({
      ...NOT_COVERED,
      message,
      failure_type: "coverage",
    });
  });
});

test("a quote of a weight outside the tiers names the weights that are served", async () => {
  const { status, body } = await service.request(QUOTE, {
    apiKey,
    body: { ...COVERED_ROUTE, weight_kg: 999 },
  });
  expect(status).toBe(200);
  expect(body).toStrictEqual({
    ...NOT_COVERED,
    message: "No pricing tier covers 999 kg; weights above 0 kg and up to 50 kg are served.",
    failure_type: "weight",
  });
});

test("a quote needs no payment provider and writes nothing", async () => {
  const poor = await service.addWorkspace({ paymentProvider: undefined });
  const before = await countRows();
  const { status } = await service.request(QUOTE, { apiKey: poor.apiKey, body: COVERED_ROUTE });
  expect(status).toBe(200);
  expect(await countRows()).toEqual(before);
});

function countRows() {
  return service.app.em
    .fork()
    .execute("select (select count(*) from shipment), (select count(*) from customer) customers");
}

describe("a quote is exact", () => {
  const tiers = (flat_fee: string, rate_per_kg: string) => [
    { min_kg: 0, max_kg: 1_000, flat_fee, rate_per_kg },
  ];
  const here = { pickup_lat: 0, pickup_lng: 0, dropoff_lat: 0, dropoff_lng: 0 };
  const oneDegree = { ...here, dropoff_lng: 1 };
  const usd = worldTariff({ base_fee: "5.00", rate_per_km: "1.20", tiers: tiers("2.00", "1.00") });
  const jpy = worldTariff({
    currency: "JPY",
    base_fee: "0",
    rate_per_km: "150",
    tiers: tiers("0", "1"),
  });
  const kwd = worldTariff({
    currency: "KWD",
    base_fee: "0.001",
    rate_per_km: "0.125",
    tiers: tiers("0.000", "1.000"),
  });
  const dear = worldTariff({ rate_per_km: "1000.00" });
  const free = worldTariff({ base_fee: "9.99" });

  test.each<[rule: string, tariff: object, route: object, price: object]>([
    [
      "the subtotal is the sum of the rounded fees",
      usd,
      { ...oneDegree, weight_kg: 2.5 },
      // 111.19508... km
      { distance_km: 111.195, distance_fee: 133.43, weight_fee: 4.5, base_fee: 5, total: 137.93 },
    ],
    [
      "half a cent is rounded up, though binary floating point says 1.00499...",
      usd,
      { ...here, weight_kg: 1.005 },
      { distance_km: 0, distance_fee: 0, weight_fee: 3.01, base_fee: 5, total: 5 },
    ],
    [
      "less than half a cent is rounded down",
      usd,
      { ...here, weight_kg: 4.0049999999999 },
      { distance_km: 0, distance_fee: 0, weight_fee: 6, base_fee: 5, total: 6 },
    ],
    [
      "the yen has no minor unit: half a yen is a yen",
      jpy,
      { ...here, weight_kg: 0.5 },
      { distance_km: 0, distance_fee: 0, weight_fee: 1, base_fee: 0, total: 1 },
    ],
    [
      "the yen has no minor unit: less than half is nothing",
      jpy,
      { ...oneDegree, weight_kg: 0.4999 },
      // 150 × 111.19508... = 16679.262
      { distance_km: 111.195, distance_fee: 16679, weight_fee: 0, base_fee: 0, total: 16679 },
    ],
    [
      "the Kuwaiti dinar has a thousand fils",
      kwd,
      { ...oneDegree, weight_kg: 1.0005 },
      // 0.125 × 111.19508... = 13.899385
      {
        distance_km: 111.195,
        distance_fee: 13.899,
        weight_fee: 1.001,
        base_fee: 0.001,
        total: 14.9,
      },
    ],
    [
      "fees use the distance before it is rounded",
      dear,
      { ...oneDegree, weight_kg: 1 },
      {
        distance_km: 111.195,
        distance_fee: 111195.08,
        weight_fee: 0,
        base_fee: 0,
        total: 111195.08,
      },
    ],
    [
      "the base fee is the least that is charged",
      free,
      { ...oneDegree, weight_kg: 1 },
      { distance_km: 111.195, distance_fee: 0, weight_fee: 0, base_fee: 9.99, total: 9.99 },
    ],
  ])("%s", async (_, tariff, route, price) => {
    const own = await startService({ tariff });
    const workspace = await own.addWorkspace();
    const { body } = await own.request(QUOTE, { apiKey: workspace.apiKey, body: route });
    const { distance_fee, weight_fee } = price as Record<string, number>;
    const subtotal = Number((distance_fee! + weight_fee!).toFixed(3));
    const { currency } = tariff as { currency: string };
    expect(body).toStrictEqual({
      covered: true,
      message: null,
      failure_type: null,
      ...price,
      subtotal,
      currency,
      ...WITHOUT_WINDOWS,
    });
  });
});

describe("a quote at the edges of coverage and tiers", async () => {
  const [outer] = square(0, 0, 10, 10);
  const [hole] = square(4, 4, 6, 6);
  const edgy = await startService({
    tariff: worldTariff({
      zones: zonesOf([outer!, hole!], square(20, 0, 30, 10)),
      tiers: [
        { min_kg: 1, max_kg: 2, flat_fee: "1.00", rate_per_kg: "0.00" },
        { min_kg: 2, max_kg: 3, flat_fee: "2.00", rate_per_kg: "0.00" },
        { min_kg: 5, max_kg: 6, flat_fee: "5.00", rate_per_kg: "0.00" },
      ],
    }),
  });
  const { apiKey: key } = await edgy.addWorkspace();

  const quoteAt = async (from: [number, number], to: [number, number], weight_kg: number) => {
    const [pickup_lng, pickup_lat] = from;
    const [dropoff_lng, dropoff_lat] = to;
    const body = { pickup_lng, pickup_lat, dropoff_lng, dropoff_lat, weight_kg };
    return (await edgy.request(QUOTE, { apiKey: key, body })).body;
  };

  test.each<[what: string, point: [number, number], covered: boolean]>([
    ["on a corner", [0, 0], true],
    ["on an edge", [10, 5], true],
    ["just outside an edge", [10.000001, 5], false],
    ["in a hole", [5, 5], false],
    ["on the edge of a hole", [4, 5], true],
    ["in another zone than the pickup", [25, 5], true],
    ["between two zones", [15, 5], false],
  ])("covers a dropoff %s, at %j: %j", async (_, point, covered) => {
    expect((await quoteAt([1, 1], point, 1.5)).covered).toBe(covered);
  });

  test.each([
    [1, null],
    [1.0000001, 1],
    [2, 1],
    [2.0000001, 2],
    [3, 2],
    [4, null],
    [5, null],
    [5.5, 5],
    [6.1, null],
  ])("%d kg cost %j", async (weightKg, fee) => {
    const { failure_type, weight_fee, message } = await quoteAt([1, 1], [2, 2], weightKg);
    expect({ failure_type, weight_fee, message }).toEqual(
      fee === null
        ? {
            failure_type: "weight",
            weight_fee: 0,
            message: `No pricing tier covers ${weightKg} kg; weights above 1 kg and up to 3 kg, or above 5 kg and up to 6 kg are served.`,
          }
        : { failure_type: null, weight_fee: fee, message: null },
    );
  });
});
