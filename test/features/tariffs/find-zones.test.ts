import { describe, expect, test } from "vitest";
import {
  CoverageService,
  FindZonesResponseSchema,
} from "../../../gen/shipments/v1/coverage_service_pb.js";
import { inDialect } from "../../support/dialect.ts";
import { sharedService, startUnprepared } from "../../support/service.ts";
import { createDatabase } from "../../support/database.ts";
import { makeWorkspace } from "../../support/platform.ts";

const service = await sharedService();
// Zones need no payment provider.
const { apiKey } = await service.addWorkspace({ paymentProvider: undefined });

const TIMES_SQUARE = { lat: 40.758, lng: -73.9855 };
const PROSPECT_PARK = { lat: 40.6602, lng: -73.969 };
const AT_SEA = { lat: 40, lng: -70 };

const find = (points: unknown) =>
  service.request("/v1/coverage/zones", { apiKey, body: { points } });

describe("the zones of points", () => {
  test("are those of the tariff in force, in the order of the points, by JSON and by gRPC", async () => {
    const points = [PROSPECT_PARK, AT_SEA, TIMES_SQUARE, PROSPECT_PARK];
    const { status, body } = await find(points);
    const kings = { zone: { id: expect.any(String), name: "Kings" } };
    const newYork = { zone: { id: expect.any(String), name: "New York" } };
    expect({ status, body }).toEqual({
      status: 200,
      body: { data: [kings, { zone: null }, newYork, kings], tariff_version: 1 },
    });
    const byGrpc = await service.grpcClient(apiKey, CoverageService).findZones({ points });
    expect(inDialect(FindZonesResponseSchema, byGrpc)).toEqual(body);
    const coverage = await service.request("/v1/coverage", { apiKey });
    const { features } = JSON.parse(coverage.text);
    const ids = body.data.flatMap(({ zone }: { zone: { id: string } | null }) => zone?.id ?? []);
    const named = ids.map((id: string) => features.find((it: { id: string }) => it.id === id));
    expect(
      named.map(({ properties }: { properties: { name: string } }) => properties.name),
    ).toEqual(["Kings", "New York", "Kings"]);
  });

  test.each([
    ["no point", [], "points"],
    ["more than 100", Array.from({ length: 101 }, () => AT_SEA), "points"],
    ["a point without its longitude", [{ lat: 1 }], "points[0].lng"],
    ["a point that is not on the Earth", [AT_SEA, { lat: 90.5, lng: 0 }], "points[1].lat"],
  ])("are refused for %s", async (_, points, field) => {
    const { status, body } = await find(points);
    expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
  });

  test("are not known while there is no tariff", async () => {
    const bare = await startUnprepared((await createDatabase()).url);
    await bare.app.prepare();
    const { apiKey } = await makeWorkspace(bare.app.em, { name: "Poor" });
    const body = { points: [AT_SEA] };
    const answer = await bare.request("/v1/coverage/zones", { apiKey, body });
    expect([answer.status, answer.body]).toEqual([
      503,
      { message: "No tariff has been published yet; the operator publishes one.", errors: {} },
    ]);
  });
});
