import type pg from "pg";
import { beforeEach, expect, test } from "vitest";
import { publishDocument } from "../../support/publish-document.ts";
import { BOOKING, COVERED_ROUTE } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startReplica, startService, type TestService } from "../../support/service.ts";
import { SAMPLE_TARIFF } from "../../support/tariffs.ts";

let publishing: TestService;
let other: TestService;
let apiKey: string;
let database: pg.Client;

beforeEach(async () => {
  publishing = await startService();
  other = await startReplica(publishing.databaseUrl);
  ({ apiKey } = await publishing.addWorkspace());
  database = await connectTo(publishing.databaseUrl);
});

const tariffWithBaseFee = (fee: string) => ({ ...SAMPLE_TARIFF, base_fee: fee });

/** Publishes without a notification, as if it had been lost. */
async function publishSilently(version: number, baseFee: string): Promise<void> {
  await database.query(
    "insert into tariff_version (version, document, digest, published_at) values ($1, $2, $3, now())",
    [version, JSON.stringify(tariffWithBaseFee(baseFee)), `digest ${version}`],
  );
}

async function quotedBaseFee(service: TestService): Promise<number> {
  const { body } = await service.request("/v1/shipments/quote", { apiKey, body: COVERED_ROUTE });
  return body.base_fee;
}

async function untilQuotedEverywhere(baseFee: number): Promise<void> {
  await eventually(`every replica to quote a base fee of ${baseFee}`, async () => {
    const quoted = await Promise.all([publishing, other].map(quotedBaseFee));
    return quoted.every((fee) => fee === baseFee);
  });
}

test("every replica soon prices with a newly published tariff", async () => {
  await publishDocument(publishing.app.em, tariffWithBaseFee("20.00"));
  await untilQuotedEverywhere(20);
});

test("a replica soon prices with a newly published tariff although the notification was lost", async () => {
  await publishSilently(2, "21.00");
  await untilQuotedEverywhere(21);
});

test("a booking is priced with the tariff in force, whatever is cached, and records its version", async () => {
  expect(await quotedBaseFee(other)).toBe(5);
  const blindfold = await blindChangeFeeds();
  await publishSilently(2, "22.00");
  const inMemory = await quotedBaseFee(other);
  const { status, body } = await other.request("/v1/shipments", { apiKey, body: BOOKING });
  await blindfold.end();

  expect(inMemory).toBe(5);
  expect(status).toBe(201);
  expect(body.data).toMatchObject({ base_fee: 22, total: 22 });
  const { rows } = await database.query("select tariff_version from shipment");
  expect(rows).toEqual([{ tariff_version: 2 }]);
});

/** Locks the keys table, which every poll reads first, so that replicas see no change until it ends. */
async function blindChangeFeeds(): Promise<pg.Client> {
  const blindfold = await connectTo(publishing.databaseUrl);
  await blindfold.query("begin; lock table api_key in access exclusive mode");
  await eventually("both feeds to wait", async () => {
    const { rows } = await database.query("select from pg_locks where not granted");
    return rows.length >= 2;
  });
  return blindfold;
}
