import { describe, expect, test } from "vitest";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
// Zones need no payment provider.
const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });
const as = service.as(apiKey);

const TIMES_SQUARE = { lat: 40.758, lng: -73.9855 };
const PROSPECT_PARK = { lat: 40.6602, lng: -73.969 };
const AT_SEA = { lat: 40, lng: -70 };

describe("the zones of points", () => {
  test("are those of the tariff in force, in the order of the points", async () => {
    const points = [PROSPECT_PARK, AT_SEA, TIMES_SQUARE, PROSPECT_PARK];
    const { body } = await as.findZones({ points });
    const { features } = JSON.parse((await as.getCoverage()).text);
    const zoneOf = (name: string) => {
      const { id } = features.find((it: any) => it.properties.name === name);
      return { zone: { id, name } };
    };
    const [kings, newYork] = [zoneOf("Kings"), zoneOf("New York")];
    expect(body).toEqual({ data: [kings, { zone: null }, newYork, kings], tariff_version: 1 });
  });

  test.each([
    ["no point", [], "points"],
    ["more than 100", Array.from({ length: 101 }, () => AT_SEA), "points"],
    ["a point without a longitude", [{ lat: 1 }], "points[0].lng"],
    ["a point outside the Earth", [AT_SEA, { lat: 90.5, lng: 0 }], "points[1].lat"],
  ])("are rejected for %s", async (_, points, field) => {
    expect(Object.keys((await as.findZones({ points })).body.errors)).toEqual([field]);
  });
});
