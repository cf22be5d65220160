import { afterEach, expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { ANY_TIME } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { startService } from "../../support/service.ts";
import { draftsOf } from "../../support/tariff-drafts.ts";
import { square, worldTariff, zonesOf } from "../../support/tariffs.ts";

/** A document with unknown properties at several levels and an unusual property order. */
const DOCUMENT = {
  zz: { b: 1, a: [null, "ä"] },
  ...worldTariff({ base_fee: "4.00" }),
  zones: { name: "kept too", ...zonesOf(square(-10, -10, 10, 10)) },
  aa: "last",
};
const FEES = {
  currency: "USD",
  base_fee: "4.00",
  rate_per_km: "0",
  tiers: [{ min_kg: 0, max_kg: 1_000, flat_fee: "0", rate_per_kg: "0" }],
};
const STALE = {
  etag: "etag is stale because the draft was changed. Read it again.",
};

const service = await startService();
await publishDocument(service.app.em, DOCUMENT);
const { key } = await service.addOperator("operator");
const as = service.as(key);
const drafts = draftsOf(service, key);
const database = await connectTo(service.databaseUrl);

afterEach(async () => {
  await database.query("delete from tariff_draft");
});

const create = (fields: object) => data(as.createTariffDraft({ name: "Spring", ...fields }));
/** Returns the stored fees of the only draft. */
const storedFees = async (): Promise<string> =>
  (await database.query("select fees::text as text from tariff_draft")).rows[0].text;

test("a new draft is empty and has its creator's name", async () => {
  const draft = await create({ name: " Spring " });
  expect(draft).toEqual({
    id: expect.any(Number),
    name: "Spring",
    author: "Test operator",
    fees: { currency: "", base_fee: "", rate_per_km: "", tiers: [] },
    zones_bytes: 0,
    from_version: null,
    etag: `${draft.id}-1`,
    created_at: ANY_TIME,
    updated_at: draft.created_at,
  });
  expect(await data(as.getTariffDraft({ draft: draft.id }))).toEqual(draft);
});

test("a copy of a version has exactly the same zones, and its unknown keys in order", async () => {
  const draft = await create({ from_version: 2 });
  const { zones: collection, ...head } = DOCUMENT;
  const zones = JSON.stringify(collection);
  expect(draft).toMatchObject({ fees: FEES, from_version: 2, zones_bytes: zones.length });
  const { text, headers } = await as.getTariffDraftZones({ draft: draft.id });
  expect([text, headers.get("content-type")]).toEqual([zones, "application/geo+json"]);
  expect(await storedFees()).toBe(JSON.stringify(head));
});

test("given fees replace those of the version and nothing else", async () => {
  const fees = { currency: "JPY", base_fee: "500", rate_per_km: "33.3" };
  const draft = await create({ from_version: 2, fees });
  expect(draft.fees).toEqual({ ...fees, tiers: [] });
  expect(await storedFees()).toBe(
    `{"zz":{"b":1,"a":[null,"ä"]},"currency":"JPY","base_fee":"500","rate_per_km":"33.3","tiers":[],"aa":"last"}`,
  );
});

test("a copy of a missing version is rejected and creates no draft", async () => {
  const copying = as.createTariffDraft({ name: "Copy", from_version: 77 });
  await expectRefused(copying, "TARIFF_VERSION_NOT_FOUND", "There is no tariff version 77.");
  expect((await as.listTariffDrafts()).body).toEqual({ data: [], next_page_token: "" });
});

test("lists drafts, the most recently changed first", async () => {
  const { id: draft } = await create({ name: "A" });
  for (const name of ["B", "C"]) await create({ name });
  await as.updateTariffDraft({ draft, name: "A again" });
  const names = (await data(as.listTariffDrafts())).map(({ name }: any) => name);
  expect(names).toEqual(["A again", "C", "B"]);
});

test("a change with an etag requires the current one and creates a new one", async () => {
  const { id: draft, etag } = await create({});
  const changed = await data(as.updateTariffDraft({ draft, etag, fees: FEES }));
  expect(changed).toMatchObject({ name: "Spring", fees: FEES, etag: `${draft}-2` });
  for (const call of [
    as.updateTariffDraft({ draft, etag, name: "Late" }),
    drafts.upload(draft, "{}", `?etag=${etag}`),
    drafts.publish(draft, 2, { etag }),
  ]) {
    await expectRefused(call, "ETAG_STALE", STALE);
  }
  const same = { draft, etag: `${draft}-2`, name: "Spring" };
  expect(await data(as.updateTariffDraft(same))).toEqual(changed);
});

test("a deleted draft is not found, nor are its zones or an impossible draft", async () => {
  const { id } = await drafts.begin(DOCUMENT);
  expect((await as.deleteTariffDraft({ draft: id })).body).toEqual({});
  const { rows } = await database.query("select count(*)::int as count from tariff_draft_piece");
  expect(rows).toEqual([{ count: 0 }]);
  for (const draft of [id, 0, -1, Number.MAX_SAFE_INTEGER]) {
    for (const call of [
      as.getTariffDraft({ draft }),
      as.updateTariffDraft({ draft }),
      as.deleteTariffDraft({ draft }),
      as.getTariffDraftZones({ draft }),
      as.getTariffDraftSchedules({ draft }),
      as.checkTariff({ draft }),
      as.replayTariff({ draft }),
      drafts.publish(draft, 2),
      drafts.upload(draft, "{}"),
    ]) {
      await expectRefused(call, "TARIFF_DRAFT_NOT_FOUND");
    }
  }
});

test("reads of zones run one at a time and leave connections to other calls", async () => {
  const { id: draft } = await create({});
  await database.query("begin; lock table tariff_draft_piece");
  const reads = Array.from({ length: 30 }, () => as.getTariffDraftZones({ draft }));
  const waiting = await connectTo(service.databaseUrl);
  await eventually("the reads to wait", async () => {
    return (await waiting.query("select from pg_locks where not granted")).rowCount! > 0;
  });
  const other = await as.listWorkspaces();
  await database.query("commit");
  const statuses = (await Promise.all(reads)).map(({ status }) => status);
  expect([other.status, ...new Set(statuses)]).toEqual([200, 200]);
});

test("the audit log contains all fields of a draft when it is changed and deleted", async () => {
  const { id: draft } = await create({});
  await as.updateTariffDraft({ draft, name: "Summer", fees: FEES });
  await as.deleteTariffDraft({ draft });
  const { tiers, ...fees } = { ...FEES, tiers: JSON.stringify(FEES.tiers) };
  const changed = Object.entries({ ...fees, tiers });
  const entries = await data(as.listAuditEntries({ subject: `tariff_draft/${draft}` }));
  expect(entries.map(({ changes }: any) => changes)).toEqual([
    [["name", "Summer"], ...changed].map(([field, before]) => ({ field, before, after: null })),
    [
      { field: "name", before: "Spring", after: "Summer" },
      ...changed.map(([field, after]) => ({ field, before: null, after })),
    ],
    [{ field: "name", before: null, after: "Spring" }],
  ]);
});
