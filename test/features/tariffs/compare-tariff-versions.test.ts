import { expect, test } from "vitest";
import {
  CompareTariffVersionsResponseSchema,
  TariffService,
} from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { compileEncodeJson } from "../../../src/json/encode-json.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { startService } from "../../support/service.ts";
import { SAMPLE_TARIFF, square, worldTariff, zonesOf } from "../../support/tariffs.ts";
import { errorBody } from "../../support/endpoints.ts";

const service = await startService();
const { key: viewer } = await service.addOperator("viewer");
// Version 1 is the sample.
const zones = zonesOf(square(0, 0, 1, 1), square(2, 0, 3, 1));
await publishDocument(service.app.em, worldTariff({ zones, base_fee: "31.00" }));
await publishDocument(service.app.em, SAMPLE_TARIFF);

const compare = (query: string, apiKey = viewer) =>
  service.request(`/admin/v1/tariff_comparison?${query}`, { apiKey });

const NEW_YORK = ["Bronx", "Kings", "New York", "Queens", "Richmond"];

test("two versions are compared by fees, tiers and zones, from one to the other", async () => {
  const { status, body } = await compare("from_version=1&to_version=2");
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      fees: [
        { path: "base_fee", before: "5.00", after: "31.00" },
        { path: "rate_per_km", before: "1.20", after: "0" },
        { path: "tiers[0].max_kg", before: "5", after: "1000" },
        { path: "tiers[0].flat_fee", before: "0.00", after: "0" },
        { path: "tiers[0].rate_per_kg", before: "0.50", after: "0" },
        {
          path: "tiers[1]",
          before: '{"min_kg":5,"max_kg":20,"flat_fee":"1.50","rate_per_kg":"0.40"}',
          after: null,
        },
        {
          path: "tiers[2]",
          before: '{"min_kg":20,"max_kg":50,"flat_fee":"4.00","rate_per_kg":"0.35"}',
          after: null,
        },
      ],
      zones: {
        added: ["Zone 1", "Zone 2"],
        removed: NEW_YORK,
        changed: [],
        added_count: 2,
        removed_count: 5,
        changed_count: 0,
        unchanged_count: 0,
      },
      schedules: [],
    },
  });
  const byGrpc = await service
    .grpcClient(viewer, TariffService)
    .compareTariffVersions({ fromVersion: 1, toVersion: 2 });
  expect(compileEncodeJson(CompareTariffVersionsResponseSchema)(byGrpc)).toEqual(body);
});

test.each([
  [1, 3],
  [2, 2],
])("versions %i and %i, which say the same, do not differ", async (from, to) => {
  const unchanged = to === 3 ? 5 : 2;
  expect((await compare(`from_version=${from}&to_version=${to}`)).body).toEqual({
    fees: [],
    zones: {
      added: [],
      removed: [],
      changed: [],
      added_count: 0,
      removed_count: 0,
      changed_count: 0,
      unchanged_count: unchanged,
    },
    schedules: [],
  });
});

test("each version that there is not is named by its field", async () => {
  const refused = async (query: string) => {
    const { status, body } = await compare(query);
    return { status, body };
  };
  expect(await refused("from_version=1&to_version=9")).toEqual({
    status: 404,
    body: errorBody("There is no tariff version 9.", "to_version"),
  });
  expect(await refused("from_version=0&to_version=-1")).toEqual({
    status: 404,
    body: {
      message: "There is no tariff version 0. (and 1 more error)",
      errors: {
        from_version: ["There is no tariff version 0."],
        to_version: ["There is no tariff version -1."],
      },
    },
  });
  expect(await refused("to_version=1")).toMatchObject({
    status: 422,
    body: { errors: { from_version: ["from_version is required."] } },
  });
  const call = service
    .grpcClient(viewer, TariffService)
    .compareTariffVersions({ fromVersion: 2_147_483_647, toVersion: 1 });
  expect(await rpcError(call)).toMatchObject({
    code: "NotFound",
    message: "There is no tariff version 2147483647.",
    details: { ErrorInfo: { reason: "TARIFF_VERSION_NOT_FOUND" } },
  });
});

test("a workspace's key does not compare", async () => {
  const { apiKey } = await service.addWorkspace();
  expect((await compare("from_version=1&to_version=2", apiKey)).status).toBe(401);
});
