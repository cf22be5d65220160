import { hasOption, type DescMessage } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { decimals } from "../../../gen/shipments/v1/options_pb.js";
import { data } from "../../support/answers.ts";
import { BOOKING, COVERED_ROUTE, RPC_ROUTE } from "../../support/bookings.ts";
import { describedMethods } from "../../support/described-services.ts";
import { startService } from "../../support/service.ts";
import { worldTariff } from "../../support/tariffs.ts";

/** Two tiers whose upper bounds are results of binary addition and multiplication. */
const TIERS = [
  { min_kg: 0, max_kg: 0.3, flat_fee: "1.00", rate_per_kg: "0" },
  { min_kg: 0.3, max_kg: 50.4, flat_fee: "2.00", rate_per_kg: "0" },
];
const service = await startService({ tariff: worldTariff({ base_fee: "0.00", tiers: TIERS }) });
const { apiKey } = await service.addWorkspace();
const caller = service.as(apiKey);

const WEIGHTS = [
  [0.1 + 0.2, 0.3, 1],
  [3 * 16.8, 50.4, 2],
] as const;

describe.each(WEIGHTS)("%d kg counts as %d kg, in the tier of %d", (sent, counted, fee) => {
  const route = { ...COVERED_ROUTE, weight_kg: sent };
  const priced = { weight_kg: counted, weight_fee: fee };

  test("in a single quote, in a batch, and over gRPC", async () => {
    const { body } = await caller.quoteShipment(route);
    expect(body).toMatchObject({ covered: true, weight_fee: fee });
    const batch = await caller.batchQuoteShipments({ routes: [route] });
    expect(batch.body.results).toMatchObject([{ quote: { weight_fee: fee } }]);
    const byGrpc = await service.grpcClient(apiKey).quoteShipment({ ...RPC_ROUTE, weightKg: sent });
    expect(byGrpc).toMatchObject({ covered: true, weightFee: fee });
  });

  test("in a booking, with and without a quote", async () => {
    const weight_kg = sent;
    expect(await data(caller.createShipment({ ...BOOKING, weight_kg }))).toMatchObject(priced);
    const { body } = await caller.createQuote({ ...route, weight_kg: counted });
    const byQuote = { ...BOOKING, quote_id: body.id, weight_kg };
    expect(await data(caller.createShipment(byQuote))).toMatchObject(priced);
  });

  test("in an update", async () => {
    const { reference: shipment } = await data(caller.createShipment({ ...BOOKING, weight_kg: 0.2 }));
    const updated = await data(caller.updateShipment({ shipment, weight_kg: sent }));
    expect(updated).toMatchObject(priced);
  });
});

/** Returns a request's message types, including nested ones. */
function messagesOf(schema: DescMessage): DescMessage[] {
  const within = schema.fields.flatMap(({ message }) => message ?? []);
  return [schema, ...within.flatMap(messagesOf)];
}

test("every weight of every request is rounded to milligrams", async () => {
  const methods = await describedMethods("workspace");
  const messages = new Set(methods.flatMap(({ input }) => messagesOf(input)));
  const weights = [...messages].flatMap(({ fields }) => fields.filter(({ name }) => name.includes("weight")));
  expect(weights.length).toBeGreaterThan(4);
  expect(weights.filter((it) => !hasOption(it, decimals)).map(String)).toEqual([]);
});
