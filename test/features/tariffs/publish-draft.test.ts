import { beforeEach, expect, test } from "vitest";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { data, expectRefused } from "../../support/answers.ts";
import { ANY_TIME } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { startService } from "../../support/service.ts";
import { draftsOf } from "../../support/tariff-drafts.ts";
import { worldTariff } from "../../support/tariffs.ts";

const service = await startService();
const { key } = await service.addOperator("operator");
const as = service.as(key);
const drafts = draftsOf(service, key);
const database = await connectTo(service.databaseUrl);

/** Version in force at the start of each test, when there are no drafts or scheduled versions. */
let first: number;
beforeEach(async () => {
  await database.query("delete from tariff_draft");
  await database.query("update tariff_version set called_off_at = now() where effective_at > now()");
  first = (await publishDocument(service.app.em, worldTariff({ base_fee: "1.00" }))).version;
});

/** Creates a draft that differs from the tariff in force only in its base fee, which is 1.00 there. */
const begin = (fee: string) => drafts.begin(worldTariff({ base_fee: fee }), `Fee ${fee}`);
const inForce = () => data(as.getTariffInForce());

/** Returns the database's time plus some seconds. */
async function inSeconds(seconds: number): Promise<string> {
  const sql = "select date_trunc('milliseconds', now()) + make_interval(secs => $1) as at";
  return (await database.query(sql, [seconds])).rows[0].at.toISOString();
}

test("a published draft becomes the version in force, with its publisher and note, and is deleted", async () => {
  const draft = await begin("2.00");
  const { body } = await drafts.publish(draft.id, first, { note: " Dearer " });
  expect(body).toEqual({
    published: true,
    data: {
      version: first + 1,
      state: "in_force",
      fees: draft.fees,
      zones: 1,
      note: "Dearer",
      author: "Test operator",
      replaces: first,
      repeats: null,
      honours_quotes: true,
      published_at: ANY_TIME,
      effective_at: ANY_TIME,
      called_off_at: null,
    },
  });
  expect(await inForce()).toEqual(body.data);
  expect(await data(as.listTariffDrafts())).toEqual([]);
});

test("a draft that equals the tariff in force creates no version and is deleted", async () => {
  const before = await inForce();
  const draft = await begin("1.00");
  const { body } = await drafts.publish(draft.id, first, { note: "The same" });
  expect(body).toEqual({ published: false, data: before });
  expect(await data(as.listTariffDrafts())).toEqual([]);
  expect((await data(as.listTariffVersions({ page_size: 1 })))[0].version).toBe(first);
});

test.each([-1, 1])(
  "rejects a publication that replaces the version at offset %i from the one in force, and returns the latter",
  async (off) => {
    const draft = await begin("2.00");
    const replaces = `Version ${first} is now in force, not ${first + off}. Compare it with your draft before you replace it.`;
    const publishing = drafts.publish(draft.id, first + off);
    const facts = { version_in_force: String(first) };
    await expectRefused(publishing, "TARIFF_REPLACED", { replaces }, facts);
    expect(await data(as.listTariffDrafts())).toHaveLength(1);
  },
);

test("a publication requires the version to replace", async () => {
  const { body } = await as.publishTariff({ draft: (await begin("2.00")).id });
  expect(Object.keys(body.errors)).toEqual(["replaces"]);
});

test("publishes only one of two drafts that concurrently replace the same version", async () => {
  const ids = [(await begin("2.00")).id, (await begin("3.00")).id];
  const answers = await Promise.all(ids.map((id) => drafts.publish(id, first)));
  expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([undefined, "TARIFF_REPLACED"]));
});

test("does not publish a draft that is changed during its check", async () => {
  const { id } = await begin("2.00");
  const lock = await connectTo(service.databaseUrl);
  // Holds the advisory lock that publishers acquire after the check.
  await lock.query("select pg_advisory_lock($1)", [0x5348_5002]);
  const publishing = drafts.publish(id, first);
  await expect.poll(async () => (await database.query("select from pg_locks where not granted")).rowCount).toBe(1);
  await as.updateTariffDraft({ draft: id, name: "Other" });
  await lock.end();
  const text = "etag is stale because the draft was changed. Read it again.";
  await expectRefused(publishing, "ETAG_STALE", { etag: text });
  expect(await inForce()).toMatchObject({ version: first });
});

test("accepts a time in the last minute as now, and rejects earlier times and those more than a year ahead", async () => {
  const { id } = await begin("2.00");
  for (const [seconds, text] of [
    [367 * 24 * 3600, "effective_at must be at most a year from now."],
    [-61, "effective_at must not be in the past. Omit it to publish immediately."],
  ] as const) {
    const publishing = drafts.publish(id, first, { effective_at: await inSeconds(seconds) });
    await expectRefused(publishing, "FIELD_INVALID", { effective_at: text });
  }
  // JSON truncates the fraction of the last possible second.
  const effectiveAt = { seconds: 253_402_300_799n, nanos: 999_999_999 };
  const grpc = service.grpcClient(key, TariffService);
  const publishing = grpc.publishTariff({ draft: BigInt(id), replaces: first, effectiveAt });
  expect((await rpcError(publishing)).code).toBe("InvalidArgument");
  const recent = { effective_at: await inSeconds(-1) };
  const { body } = await drafts.publish(id, first, recent);
  expect(body.data).toMatchObject({ version: first + 1, state: "in_force" });
  expect(body.data.effective_at).toBe(body.data.published_at);
});

test("a scheduled version is not in force, and nothing can be published until it is cancelled", async () => {
  const [scheduled, other, same] = [await begin("2.00"), await begin("3.00"), await begin("1.00")];
  const effective_at = await inSeconds(3_600);
  const version = first + 1;
  const { body } = await drafts.publish(scheduled.id, first, { effective_at });
  expect(body).toMatchObject({
    published: true,
    data: { version, state: "scheduled", effective_at },
  });
  expect(await inForce()).toMatchObject({ version: first, state: "in_force" });

  const text = `Version ${version} takes effect at ${effective_at}. Wait until then, or cancel it.`;
  const facts = { scheduled_version: String(version), effective_at };
  for (const more of [{}, { effective_at }]) {
    const publishing = drafts.publish(other.id, first, more);
    await expectRefused(publishing, "TARIFF_SCHEDULED", { tariff: text }, facts);
  }
  expect((await drafts.publish(same.id, first)).body).toMatchObject({ published: false });

  const called = await data(as.callOffTariff({ version }));
  expect(called).toEqual({ ...body.data, state: "called_off", called_off_at: ANY_TIME });
  await expectRefused(as.callOffTariff({ version }), "TARIFF_NOT_SCHEDULED", {
    version: `Version ${version} has already been cancelled. Only a scheduled version can be cancelled.`,
  });
  const { data: published } = (await drafts.publish(other.id, first)).body;
  expect(published).toMatchObject({ version: first + 2, state: "in_force", replaces: first });
});

test("any version except the one in force can be repeated, even if it was cancelled", async () => {
  const { id } = await begin("2.00");
  await drafts.publish(id, first, { effective_at: await inSeconds(3_600) });
  const calledOff = first + 1;
  await as.callOffTariff({ version: calledOff });
  const repeat = (version: number, replaces: number) => as.rollBackTariff({ version, replaces });

  expect((await repeat(first, first)).body).toMatchObject({ published: false });
  const { body } = await repeat(calledOff, first);
  expect(body).toMatchObject({ published: true, data: { state: "in_force", repeats: calledOff } });
  const { version } = body.data;
  expect((await repeat(first, calledOff)).code).toBe("TARIFF_REPLACED");
  const none = repeat(version + 9, version);
  await expectRefused(none, "TARIFF_VERSION_NOT_FOUND", `There is no tariff version ${version + 9}.`);
  const { rows } = await database.query(
    "select distinct document::text from tariff_version where version in ($1, $2)",
    [version, calledOff],
  );
  expect(rows).toHaveLength(1);
});

test("lists versions newest first, page by page, and validates tokens", async () => {
  for (const [i, fee] of ["2.00", "3.00", "4.00"].entries()) {
    await drafts.publish((await begin(fee)).id, first + i);
  }
  const page = async (page_token?: string) => (await as.listTariffVersions({ page_size: 3, page_token })).body;
  const { data: newest, next_page_token: next } = await page();
  const numbers = newest.map(({ version }: any) => version);
  expect(numbers).toEqual([first + 3, first + 2, first + 1]);
  expect((await page(next)).data[0]).toMatchObject({ version: first, state: "replaced" });
  expect(Object.keys((await page("x")).errors)).toEqual(["page_token"]);
});

test("returns the zones of a version as uploaded, and only if the client does not have them", async () => {
  const zones = ` ${JSON.stringify((worldTariff() as any).zones)}\n`;
  const { id } = await begin("2.00");
  await drafts.upload(id, zones);
  await drafts.publish(id, first);
  const version = first + 1;
  const { text, headers } = await as.getTariffVersionZones({ version });
  expect([text, headers.get("cache-control")]).toEqual([zones.trim(), "private, no-cache"]);
  const known = { "if-none-match": headers.get("etag")! };
  const again = await as.getTariffVersionZones({ version }, known);
  expect(again).toMatchObject({ status: 304, text: "" });
  const none = { version: version + 1 };
  for (const call of [as.getTariffVersion(none), as.getTariffVersionZones(none), as.getTariffVersionSchedules(none)]) {
    const text = `There is no tariff version ${version + 1}.`;
    await expectRefused(call, "TARIFF_VERSION_NOT_FOUND", text);
  }
});
