import { setTimeout as sleep } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import { afterEach, expect, test } from "vitest";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { ANY_TIME } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { publishDocument } from "../../support/publish-document.ts";
import { rpcError } from "../../support/rpc-error.ts";
import { startService } from "../../support/service.ts";
import { draftsOf, refused } from "../../support/tariff-drafts.ts";
import { square, worldTariff, zonesOf } from "../../support/tariffs.ts";

/** Unknown keys, at several places, and keys in an order of their own. */
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

const service = await startService();
await publishDocument(service.app.em, DOCUMENT);
const { key } = await service.addOperator("operator");
const drafts = draftsOf(service, key);
const database = await connectTo(service.databaseUrl);

afterEach(async () => {
  await database.query("delete from tariff_draft");
});

const NO_FEES = { currency: "", base_fee: "", rate_per_km: "", tiers: [] };

test("a draft begins empty, with the name of who made it", async () => {
  const { status, body } = await drafts.call("POST", "tariff_drafts", { name: " Spring " });
  expect({ status, body }).toEqual({
    status: 201,
    body: {
      data: {
        id: expect.any(Number),
        name: "Spring",
        author: "Test operator",
        fees: NO_FEES,
        zones_bytes: 0,
        from_version: null,
        etag: `${body.data.id}-1`,
        created_at: ANY_TIME,
        updated_at: body.data.created_at,
      },
    },
  });
  expect((await drafts.call("GET", `tariff_drafts/${body.data.id}`)).body).toEqual(body);
});

test("a copy of a version has its zones to the byte, and its unknown keys in their order", async () => {
  const { body } = await drafts.call("POST", "tariff_drafts", { name: "Copy", from_version: 2 });
  const zones = JSON.stringify(DOCUMENT.zones);
  expect(body.data).toMatchObject({ fees: FEES, from_version: 2, zones_bytes: zones.length });
  const answer = await drafts.call("GET", `tariff_drafts/${body.data.id}/zones`);
  expect(answer.text).toBe(zones);
  expect(answer.headers.get("content-type")).toBe("application/geo+json");
  const { zones: _, ...head } = DOCUMENT;
  const { rows } = await database.query("select fees from tariff_draft");
  expect(JSON.stringify(rows[0].fees)).toBe(JSON.stringify(head));
});

test("fees that are given take the place of those of the version, and of nothing else", async () => {
  const fees = { currency: "JPY", base_fee: "500", rate_per_km: "33.3" };
  const { body } = await drafts.call("POST", "tariff_drafts", {
    name: "Copy",
    from_version: 2,
    fees,
  });
  expect(body.data.fees).toEqual({ ...fees, tiers: [] });
  const { rows } = await database.query("select fees::text as text from tariff_draft");
  expect(rows[0].text).toBe(
    `{"zz":{"b":1,"a":[null,"ä"]},"currency":"JPY","base_fee":"500","rate_per_km":"33.3","tiers":[],"aa":"last"}`,
  );
});

test("a copy of a version that there is not is refused, and makes no draft", async () => {
  const answer = await drafts.call("POST", "tariff_drafts", { name: "Copy", from_version: 77 });
  expect(answer).toMatchObject(refused(404, undefined, "There is no tariff version 77."));
  expect((await drafts.call("GET", "tariff_drafts")).body).toEqual({
    data: [],
    next_page_token: "",
  });
});

test("there are 50 drafts at most, also when many are added at the same time", async () => {
  const add = (i: number) => drafts.call("POST", "tariff_drafts", { name: `Draft ${i}` });
  const added = [];
  while (added.length < 45) added.push(await add(added.length));
  added.push(...(await Promise.all([45, 46, 47, 48, 49, 50, 51, 52].map(add))));
  expect(added.filter(({ status }) => status === 201)).toHaveLength(50);
  const text = "There are 50 drafts, and no more fit; delete one.";
  const full = { status: 422, body: { message: text, errors: { tariff_draft: [text] } } };
  expect(added.filter(({ status }) => status !== 201)).toMatchObject([full, full, full]);
  expect((await drafts.call("GET", "tariff_drafts")).body.data).toHaveLength(50);
});

test("drafts are listed with the one changed last first", async () => {
  const ids: number[] = [];
  for (const name of ["A", "B", "C"]) {
    ids.push((await drafts.call("POST", "tariff_drafts", { name })).body.data.id);
  }
  await drafts.call("PATCH", `tariff_drafts/${ids[0]}`, { name: "A again" });
  const { body } = await drafts.call("GET", "tariff_drafts");
  expect(body.data.map((draft: any) => draft.name)).toEqual(["A again", "C", "B"]);
});

test("a change needs the etag that the draft has, if it gives one, and makes another", async () => {
  const { data } = (await drafts.call("POST", "tariff_drafts", { name: "Spring" })).body;
  const path = `tariff_drafts/${data.id}`;
  const changed = await drafts.call("PATCH", path, { etag: data.etag, fees: FEES });
  expect(changed).toMatchObject({
    status: 200,
    body: { data: { name: "Spring", fees: FEES, etag: `${data.id}-2` } },
  });
  const text = "etag is not the draft's any more: it was changed meanwhile. Read it again.";
  expect(await drafts.call("PATCH", path, { etag: data.etag, name: "Late" })).toMatchObject(
    refused(409, "etag", text),
  );
  expect((await drafts.upload(data.id, "{}", `?etag=${data.etag}`)).status).toBe(409);
  expect(await drafts.publish(data.id, 2, { etag: data.etag })).toMatchObject(
    refused(409, "etag", text),
  );
  const same = await drafts.call("PATCH", path, { etag: `${data.id}-2`, name: "Spring" });
  expect(same.body).toEqual(changed.body);
});

test("a deleted draft is gone, with its zones", async () => {
  const { id } = await drafts.begin(DOCUMENT);
  expect(await drafts.call("DELETE", `tariff_drafts/${id}`)).toMatchObject({
    status: 200,
    body: {},
  });
  const { rows } = await database.query("select count(*)::int as count from tariff_draft_piece");
  expect(rows).toEqual([{ count: 0 }]);
  const missing = refused(404, undefined, "There is no such draft.");
  for (const [method, path] of [
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["GET", "/zones"],
    ["POST", "/check"],
  ] as const) {
    const body = method === "POST" || method === "PATCH" ? {} : undefined;
    expect(await drafts.call(method, `tariff_drafts/${id}${path}`, body)).toMatchObject(missing);
  }
  expect(await drafts.publish(id, 2)).toMatchObject(missing);
  expect(await drafts.upload(id, "{}")).toMatchObject(missing);
});

test("ids that no draft can have are not found", async () => {
  const client = service.grpcClient(key, TariffService);
  for (const draft of [0n, -1n, 2n ** 60n]) {
    expect(await rpcError(client.getTariffDraft({ draft }))).toMatchObject({
      code: Code[Code.NotFound],
      details: { ErrorInfo: { reason: "TARIFF_DRAFT_NOT_FOUND" } },
    });
    const uploading = client.uploadTariffZones({ draft, data: new Uint8Array(1) });
    expect((await rpcError(uploading)).code).toBe("NotFound");
    expect((await rpcError(client.getTariffDraftZones({ draft }))).code).toBe("NotFound");
  }
});

test("reads of zones wait for each other, and leave connections to other calls", async () => {
  const { data } = (await drafts.call("POST", "tariff_drafts", { name: "Spring" })).body;
  await database.query("begin; lock table tariff_draft_piece");
  const reads = Array.from({ length: 30 }, () =>
    drafts.call("GET", `tariff_drafts/${data.id}/zones`),
  );
  await sleep(500);
  const other = await drafts.call("GET", "workspaces");
  await database.query("commit");
  const statuses = (await Promise.all(reads)).map(({ status }) => status);
  expect([other.status, ...new Set(statuses)]).toEqual([200, 200]);
});

test("every change of a draft is in the audit log, with what it changed", async () => {
  await database.query("truncate audit_entry");
  const { data } = (await drafts.call("POST", "tariff_drafts", { name: "Spring" })).body;
  await drafts.call("PATCH", `tariff_drafts/${data.id}`, { name: "Summer", fees: FEES });
  await drafts.upload(data.id, "{}");
  await drafts.call("DELETE", `tariff_drafts/${data.id}`);
  const { rows } = await database.query(
    "select actor, actor_name, action, subject, changes from audit_entry order by id",
  );
  const by = {
    actor: "operator",
    actor_name: "Test operator",
    subject: `tariff_draft/${data.id}`,
  };
  const tiers = JSON.stringify(FEES.tiers);
  expect(rows).toEqual([
    {
      ...by,
      action: "CreateTariffDraft",
      changes: [{ field: "name", before: null, after: "Spring" }],
    },
    {
      ...by,
      action: "UpdateTariffDraft",
      changes: [
        { field: "name", before: "Spring", after: "Summer" },
        { field: "currency", before: null, after: "USD" },
        { field: "base_fee", before: null, after: "4.00" },
        { field: "rate_per_km", before: null, after: "0" },
        { field: "tiers", before: null, after: tiers },
      ],
    },
    {
      ...by,
      action: "UploadTariffZones",
      changes: [
        { field: "zones_bytes", before: "0", after: "2" },
        { field: "etag", before: `${data.id}-2`, after: `${data.id}-3` },
      ],
    },
    {
      ...by,
      action: "DeleteTariffDraft",
      changes: [
        { field: "name", before: "Summer", after: null },
        { field: "currency", before: "USD", after: null },
        { field: "base_fee", before: "4.00", after: null },
        { field: "rate_per_km", before: "0", after: null },
        { field: "tiers", before: tiers, after: null },
      ],
    },
  ]);
});
