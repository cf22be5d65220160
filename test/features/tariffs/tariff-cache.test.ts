import { beforeEach, expect, test } from "vitest";
import { data } from "../../support/answers.ts";
import { BOOKING, COVERED_ROUTE } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { startReplica, startService, type TestService } from "../../support/service.ts";
import { draftsOf } from "../../support/tariff-drafts.ts";
import { SAMPLE_TARIFF } from "../../support/tariffs.ts";

const publishing = await startService();
const other = await startReplica(publishing.databaseUrl);
const { apiKey } = await publishing.addWorkspace();
const { key: operator } = await publishing.addOperator("operator");
const database = await connectTo(publishing.databaseUrl);

const tariffWithBaseFee = (fee: number) => ({ ...SAMPLE_TARIFF, base_fee: `${fee}.00` });
const publish = (fee: number) => publishDocument(publishing.app.em, tariffWithBaseFee(fee));

/** Publishes a version without a notification, as if it had been lost. Returns the version. */
async function publishSilently(baseFee: number): Promise<number> {
  const { rows } = await database.query(
    `insert into tariff_version (version, document, digest, published_at)
     select max(version) + 1, $1, $2, now() from tariff_version returning version`,
    [JSON.stringify(tariffWithBaseFee(baseFee)), `digest ${baseFee}`],
  );
  return rows[0].version;
}

const quotedBaseFee = async (service: TestService): Promise<number> =>
  (await service.as(apiKey).quoteShipment(COVERED_ROUTE)).body.base_fee;

const untilQuotedEverywhere = (baseFee: number) =>
  eventually(`every replica to quote a base fee of ${baseFee}`, async () => {
    const quoted = await Promise.all([publishing, other].map(quotedBaseFee));
    return quoted.every((fee) => fee === baseFee);
  });

beforeEach(async () => {
  await publish(5);
  await untilQuotedEverywhere(5);
});

test("every replica soon uses a newly published tariff", async () => {
  await publish(20);
  await untilQuotedEverywhere(20);
});

test("a replica soon uses a newly published tariff even if the notification was lost", async () => {
  await publishSilently(21);
  await untilQuotedEverywhere(21);
});

test("every replica uses a scheduled tariff from its time on, and soon a repeated one", async () => {
  const drafts = draftsOf(publishing, operator);
  const before = await data(publishing.as(operator).getTariffInForce());
  const { id } = await drafts.begin(tariffWithBaseFee(23));
  const effective_at = new Date(Date.now() + 3_600_000).toISOString();
  const scheduled = await data(drafts.publish(id, before.version, { effective_at }));
  expect(scheduled).toMatchObject({ state: "scheduled", effective_at });
  expect(await data(other.as(operator).getTariffInForce())).toEqual(before);
  // Makes the version take effect.
  await database.query("update tariff_version set effective_at = now() where version = $1", [scheduled.version]);
  await untilQuotedEverywhere(23);
  const version = { version: before.version, replaces: scheduled.version };
  const repeated = await data(other.as(operator).rollBackTariff(version));
  expect(repeated).toMatchObject({ state: "in_force", repeats: before.version });
  await untilQuotedEverywhere(5);
});

test("a booking uses and records the tariff in force, regardless of the cache", async () => {
  const lock = await connectTo(publishing.databaseUrl);
  // Locks the keys table, which every poll reads first, so that replicas see no changes.
  await lock.query("begin; lock table api_key in access exclusive mode");
  await eventually("both feeds to wait", async () => {
    const { rows } = await database.query("select from pg_locks where not granted");
    return rows.length >= 2;
  });
  const tariff_version = await publishSilently(22);
  const inMemory = await quotedBaseFee(other);
  const booked = await other.as(apiKey).createShipment(BOOKING);
  await lock.end();

  expect(inMemory).toBe(5);
  expect(await data(booked)).toMatchObject({ base_fee: 22, total: 22 });
  const { rows } = await database.query("select tariff_version from shipment");
  expect(rows).toEqual([{ tariff_version }]);
});
