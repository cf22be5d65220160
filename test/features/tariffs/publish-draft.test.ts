import type pg from "pg";
import { beforeEach, expect, test } from "vitest";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { ANY_TIME } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { startService, type TestService } from "../../support/service.ts";
import { draftsOf, refused, type Drafts } from "../../support/tariff-drafts.ts";
import { worldTariff } from "../../support/tariffs.ts";

let service: TestService;
let database: pg.Client;
let drafts: Drafts;
let key: string;

const FIRST = worldTariff({ base_fee: "1.00" });

beforeEach(async () => {
  service = await startService({ tariff: FIRST });
  ({ key } = await service.addOperator("operator"));
  drafts = draftsOf(service, key);
  database = await connectTo(service.databaseUrl);
});

const begin = (fee: string) => drafts.begin(worldTariff({ base_fee: fee }), `Fee ${fee}`);
const inForce = async () => (await drafts.call("GET", "tariff")).body.data;

/** The database's time in so many seconds. */
async function inSeconds(seconds: number): Promise<string> {
  const sql = "select date_trunc('milliseconds', now()) + make_interval(secs => $1) as at";
  return (await database.query(sql, [seconds])).rows[0].at.toISOString();
}

test("a published draft is the version in force, with who published it and why, and the draft is gone", async () => {
  const draft = await begin("2.00");
  const answer = await drafts.publish(draft.id, 1, { note: " Dearer " });
  expect(answer).toMatchObject({ status: 201 });
  expect(answer.body).toEqual({
    published: true,
    data: {
      version: 2,
      state: "in_force",
      fees: draft.fees,
      zones: 1,
      note: "Dearer",
      author: "Test operator",
      replaces: 1,
      repeats: null,
      honours_quotes: true,
      published_at: ANY_TIME,
      effective_at: ANY_TIME,
      called_off_at: null,
    },
  });
  expect(await inForce()).toEqual(answer.body.data);
  expect((await drafts.call("GET", "tariff_drafts")).body.data).toEqual([]);
});

test("a draft that says the same as the tariff in force makes no version, and is gone", async () => {
  const draft = await begin("1.00");
  const { status, body } = await drafts.publish(draft.id, 1);
  expect({ status, ...body }).toMatchObject({
    status: 201,
    published: false,
    data: { version: 1, note: null },
  });
  expect((await drafts.call("GET", "tariff_drafts")).body.data).toEqual([]);
  expect((await drafts.call("GET", "tariff_versions")).body.data).toHaveLength(1);
});

test.each([0, 2])(
  "a publication in the place of version %i, which is not in force, is refused and says which is",
  async (replaces) => {
    const draft = await begin("2.00");
    const text = `Version 1 is in force by now, not ${replaces}. Compare with it before you replace it.`;
    expect(await drafts.publish(draft.id, replaces)).toMatchObject(refused(409, "replaces", text));
    const client = service.grpcClient(key, TariffService);
    const publishing = client.publishTariff({ draft: BigInt(draft.id), replaces });
    expect(await rpcError(publishing)).toEqual(
      rpcRefusal("Aborted", "TARIFF_REPLACED", text, "replaces", { version_in_force: "1" }),
    );
    expect((await drafts.call("GET", "tariff_drafts")).body.data).toHaveLength(1);
  },
);

test("a publication has to say what it replaces", async () => {
  const draft = await begin("2.00");
  const { status, body } = await drafts.call("POST", `tariff_drafts/${draft.id}/publish`, {});
  expect({ status, fields: Object.keys(body.errors) }).toEqual({
    status: 422,
    fields: ["replaces"],
  });
});

test("of two drafts that are published at the same time in the place of one version, one is", async () => {
  const ids = [(await begin("2.00")).id, (await begin("3.00")).id];
  const statuses = (await Promise.all(ids.map((id) => drafts.publish(id, 1)))).map(
    ({ status }) => status,
  );
  expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 409]);
});

test("a draft that is changed while it is checked is not published", async () => {
  const { id } = await begin("2.00");
  const lock = await connectTo(service.databaseUrl);
  // The advisory lock that publishers take after checking.
  await lock.query("select pg_advisory_lock($1)", [0x5348_5002]);
  const publishing = drafts.publish(id, 1);
  await expect
    .poll(async () => (await database.query("select from pg_locks where not granted")).rowCount)
    .toBe(1);
  await drafts.call("PATCH", `tariff_drafts/${id}`, { name: "Other" });
  await lock.end();
  const text = "etag is not the draft's any more: it was changed meanwhile. Read it again.";
  expect(await publishing).toMatchObject(refused(409, "etag", text));
  expect(await inForce()).toMatchObject({ version: 1 });
});

test("a publication that is repeated with its idempotency key is made once", async () => {
  const { id } = await begin("2.00");
  const publish = () =>
    service.request(`/admin/v1/tariff_drafts/${id}/publish`, {
      apiKey: key,
      body: { replaces: 1 },
      headers: { "idempotency-key": "publish-1" },
    });
  const first = await publish();
  expect(first.status).toBe(201);
  expect((await publish()).body).toEqual(first.body);
});

test("a time that is past by less than a minute is now; others, and more than a year ahead, are refused", async () => {
  const { id } = await begin("2.00");
  const late = "effective_at must be at most a year from now.";
  const past = "effective_at must not be past; leave it out to publish at once.";
  for (const [seconds, text] of [
    [367 * 24 * 3600, late],
    [-61, past],
  ] as const) {
    const effective_at = await inSeconds(seconds);
    expect(await drafts.publish(id, 1, { effective_at })).toMatchObject(
      refused(422, "effective_at", text),
    );
  }
  const recent = { effective_at: await inSeconds(-1) };
  const { body } = await drafts.publish(id, 1, recent);
  expect(body.data).toMatchObject({ version: 2, state: "in_force" });
  expect(body.data.effective_at).toBe(body.data.published_at);
});

test("a time in the last millisecond of the year 9999 is refused as any other far ahead", async () => {
  const { id } = await begin("2.00");
  // JSON has no such time: its decimals of a second are cut.
  const effectiveAt = { seconds: 253_402_300_799n, nanos: 999_999_999 };
  const publishing = service
    .grpcClient(key, TariffService)
    .publishTariff({ draft: BigInt(id), replaces: 1, effectiveAt });
  expect(await rpcError(publishing)).toMatchObject({ code: "InvalidArgument" });
});

test("a scheduled version is not in force, and nothing is published until it is called off", async () => {
  const [scheduled, other, same] = [await begin("2.00"), await begin("3.00"), await begin("1.00")];
  const effective_at = await inSeconds(3_600);
  const { body } = await drafts.publish(scheduled.id, 1, { effective_at });
  expect(body).toMatchObject({
    published: true,
    data: { version: 2, state: "scheduled", effective_at },
  });
  expect(await inForce()).toMatchObject({ version: 1, state: "in_force" });

  const text = `Version 2 takes effect at ${effective_at}. Wait until then, or call it off.`;
  const waits = refused(409, "tariff", text);
  expect(await drafts.publish(other.id, 1)).toMatchObject(waits);
  expect(await drafts.publish(other.id, 1, { effective_at })).toMatchObject(waits);
  expect((await drafts.publish(same.id, 1)).body).toMatchObject({ published: false });

  const called = await drafts.call("POST", "tariff_versions/2/call_off");
  expect(called).toMatchObject({
    status: 200,
    body: { data: { version: 2, state: "called_off", called_off_at: ANY_TIME } },
  });
  const again =
    "Version 2 has been called off already; only one that is scheduled can be called off.";
  expect(await drafts.call("POST", "tariff_versions/2/call_off")).toMatchObject(
    refused(422, "version", again),
  );
  expect((await drafts.publish(other.id, 1)).body.data).toMatchObject({
    version: 3,
    state: "in_force",
    replaces: 1,
  });
});

test("any version can be repeated, also one that was called off, but not what is in force", async () => {
  const { id } = await begin("2.00");
  await drafts.publish(id, 1, { effective_at: await inSeconds(3_600) });
  await drafts.call("POST", "tariff_versions/2/call_off");
  const repeat = (version: number, replaces: number) =>
    drafts.call("POST", `tariff_versions/${version}/roll_back`, { replaces });

  expect(await repeat(1, 1)).toMatchObject({ status: 201, body: { published: false } });
  expect(await repeat(2, 1)).toMatchObject({
    status: 201,
    body: { published: true, data: { version: 3, state: "in_force", repeats: 2, replaces: 1 } },
  });
  expect(await repeat(1, 2)).toMatchObject({ status: 409 });
  expect(await repeat(9, 3)).toMatchObject(
    refused(404, undefined, "There is no tariff version 9."),
  );
  const { rows } = await database.query(
    "select (select document::text from tariff_version where version = 3) = document::text as same from tariff_version where version = 2",
  );
  expect(rows).toEqual([{ same: true }]);
});

test("versions are listed page by page, the newest first, and tokens are checked", async () => {
  for (const [i, fee] of ["2.00", "3.00", "4.00"].entries()) {
    await drafts.publish((await begin(fee)).id, i + 1);
  }
  const first = (await drafts.call("GET", "tariff_versions?page_size=3")).body;
  expect(first.data.map(({ version }: any) => version)).toEqual([4, 3, 2]);
  const path = `tariff_versions?page_size=3&page_token=${first.next_page_token}`;
  expect((await drafts.call("GET", path)).body).toMatchObject({
    data: [{ version: 1, state: "replaced" }],
    next_page_token: "",
  });
  const forged = await drafts.call("GET", "tariff_versions?page_token=x");
  expect({ status: forged.status, fields: Object.keys(forged.body.errors) }).toEqual({
    status: 422,
    fields: ["page_token"],
  });
});

test("the zones of a version are given as they were uploaded, and once more only if they are not known", async () => {
  const zones = ` ${JSON.stringify((worldTariff() as any).zones)}\n`;
  const { id } = await begin("2.00");
  await drafts.upload(id, zones);
  await drafts.publish(id, 1);
  const answer = await drafts.call("GET", "tariff_versions/2/zones");
  expect(answer.text).toBe(zones.trim());
  expect(answer.headers.get("cache-control")).toBe("private, no-cache");
  const known = await service.request("/admin/v1/tariff_versions/2/zones", {
    apiKey: key,
    headers: { "if-none-match": answer.headers.get("etag")! },
  });
  expect(known).toMatchObject({ status: 304, text: "" });
  expect(await drafts.call("GET", "tariff_versions/3/zones")).toMatchObject(
    refused(404, undefined, "There is no tariff version 3."),
  );
});
