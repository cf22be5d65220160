import type { DescMethod } from "@bufbuild/protobuf";
import { expect, inject, test } from "vitest";
import { startStripe } from "../stripe/stand-in.ts";
import { runSql } from "../citus/cluster.ts";
import { createDatabase } from "../support/database.ts";
import { describedMethods } from "../support/described-services.ts";
import { startGeocoder } from "../support/geocoder.ts";
import { createMethodCalls } from "../support/method-calls.ts";
import { startReplica } from "../support/service.ts";
import { stripeSettings } from "../support/stripe-service.ts";

/** Settings that an administrator may have changed with `alter role ... set` or `alter database ... set`. */
const HOSTILE = [
  "DateStyle = 'SQL, DMY'",
  "IntervalStyle = 'iso_8601'",
  "TimeZone = 'Asia/Kathmandu'",
  "extra_float_digits = -15",
  "bytea_output = 'escape'",
  "standard_conforming_strings = off",
  "array_nulls = off",
  "transform_null_equals = on",
  "quote_all_identifiers = on",
  "default_transaction_isolation = 'serializable'",
  "gin_fuzzy_search_limit = 1",
  "enable_indexscan = off",
  "enable_bitmapscan = off",
];

const database = await createDatabase();
const name = new URL(database.url).pathname.slice(1);
const settings = HOSTILE.map((setting) => `alter database ${name} set ${setting}`);
for (const url of inject("adminDatabaseUrls")) await runSql(url, ...settings);
const stripe = await startStripe({ livemode: true });
const service = await startReplica(database.url, {
  ...stripeSettings(stripe),
  ...(await startGeocoder("photon")).settings,
});
const workspace = await service.addWorkspace();
const operator = await service.addOperator();
const calls = createMethodCalls(service, {
  workspace,
  stripe,
  operator,
  mark: "first",
  text: "plain text",
});

test.each(
  [...(await describedMethods("workspace")), ...(await describedMethods("operator"))].map(
    (method) => [method.name, method] as const,
  ),
)("%s succeeds, whatever the database's settings for connections", async (_, method) => {
  const answers = await calls.call(method, await calls.validFields(method as DescMethod));
  for (const { status, text } of answers) expect(status, text).toBeLessThan(300);
});

test("times and numbers are read as written", async () => {
  const as = service.as(workspace.apiKey);
  const [newest] = (await as.listShipments({ page_size: 1 })).body.data;
  expect(newest.created_at).toMatch(/^20\d\d-\d\d-\d\dT/);
  expect(Math.abs(Date.parse(newest.created_at) - Date.now())).toBeLessThan(3_600_000);
  const { body } = await as.getShipment({ shipment: newest.reference });
  expect([body.data.pickup_lat, body.data.distance_km]).toEqual([newest.pickup_lat, newest.distance_km]);
  expect(String(newest.pickup_lat)).toMatch(/^40\.\d{3,}$/);
});
