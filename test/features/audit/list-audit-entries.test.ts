import { describe, expect, test } from "vitest";
import { AUDIT_ACTIONS, recordChange, recordingChanges } from "../../../src/features/audit/record-change.ts";
import { data } from "../../support/answers.ts";
import { connectTo } from "../../support/database.ts";
import { callOf } from "../../support/call-of.ts";
import { eventually } from "../../support/eventually.ts";
import { planOf, rowsTouched } from "../../support/plans.ts";
import { queriesOf, type SentQuery } from "../../support/query-log.ts";
import { startReplica, startService } from "../../support/service.ts";

const ENTRIES = 50_000;
/** Number of entries that share a time. */
const PER_TIMESTAMP = 2;
/**
 * Maximum number of entries read for a page of 25. One extra entry shows whether there is a next
 * page. If few entries are in range, the query may read and sort them all.
 */
const MAX_READ = 100;

const actionOf = (i: number) => AUDIT_ACTIONS[i % AUDIT_ACTIONS.length];

const service = await startService();
const sql = await connectTo(service.databaseUrl);
const viewer = await service.addOperator("viewer");
// Ids are not in the order of times, because transactions may commit in a different order.
await sql.query(
  `insert into audit_entry
     (created_at, actor, actor_name, operator_id, action, subject, workspace_id, changes, request_id)
   select timestamptz '2026-01-01' + ((i / ${PER_TIMESTAMP}) || ' seconds')::interval,
     (array['operator', 'command_line', 'api_key', 'service'])[1 + i % 4], 'Actor ' || i % 7,
     case i % 4 when 0 then i % 40 / 4 + 1 end, ($1::text[])[1 + i % cardinality($1)],
     'workspace/' || i % 100, nullif(i % 50, 0),
     '[{"field": "name", "before": null, "after": "Acme"}]', 'request-' || i
   from generate_series(1, ${ENTRIES}) as i order by (i * 7919) % ${ENTRIES}`,
  [AUDIT_ACTIONS],
);
await sql.query("analyze audit_entry");

const list = (query: string) => service.request(`/admin/v1/audit_entries?${query}`, { apiKey: viewer.key });

const AFTER = "created_after=2026-01-01T01:00:00Z";
const BEFORE = "created_before=2026-01-01T02:00:00Z";

/** Filters with the equivalent SQL condition. */
const FILTERS: readonly (readonly [query: string, where: string])[] = [
  ["", "true"],
  ["operator=3", "operator_id = 3"],
  ["workspace=7", "workspace_id = 7"],
  [`action=${actionOf(7)}`, `action = '${actionOf(7)}'`],
  ["subject=workspace/7", "subject = 'workspace/7'"],
  [AFTER, "created_at > '2026-01-01T01:00:00Z'"],
  [BEFORE, "created_at < '2026-01-01T02:00:00Z'"],
  [`${AFTER}&${BEFORE}`, "created_at > '2026-01-01T01:00:00Z' and created_at < '2026-01-01T02:00:00Z'"],
];
const RANGED: typeof FILTERS = FILTERS.slice(0, 5).flatMap(([query, where]) =>
  FILTERS.slice(5).map(([range, within]) => [`${query}&${range}`, `${where} and ${within}`] as const),
);
const COMBINED: typeof FILTERS = [
  [`workspace=7&action=${actionOf(7)}`, `workspace_id = 7 and action = '${actionOf(7)}'`],
  ["operator=9&subject=workspace/32", "operator_id = 9 and subject = 'workspace/32'"],
  ["operator=1&workspace=7", "operator_id = 1 and workspace_id = 7"],
];

async function idsWhere(where: string, order = "desc"): Promise<number[]> {
  const { rows } = await sql.query(
    `select id::int from audit_entry where ${where} order by created_at ${order}, id ${order}`,
  );
  return rows.map(({ id }) => id);
}

describe("lists matching entries newest first, page by page", () => {
  test.each([...FILTERS, ...RANGED, ...COMBINED])("%s", async (query, where) => {
    const expected = (await idsWhere(where)).slice(0, 60);
    const listed: number[] = [];
    let token = "";
    do {
      const { status, body } = await list(`${query}&page_size=30&page_token=${token}`);
      expect(status).toBe(200);
      listed.push(...body.data.map(({ id }: { id: number }) => id));
      token = body.next_page_token;
    } while (token !== "" && listed.length < 60);
    expect(listed).toEqual(expected);
  });
});

/** Follows a filtered list page by page after an entry. Returns the ids. */
async function follow(after: number, query = "", pages = Infinity): Promise<number[]> {
  const listed: number[] = [];
  for (let last: number | undefined = after; last !== undefined && pages > 0; pages--) {
    const { status, body } = await list(`${query}&page_size=30&after=${last}`);
    expect(status).toBe(200);
    const ids = body.data.map(({ id }: { id: number }) => id);
    listed.push(...ids);
    last = ids.at(-1);
  }
  return listed;
}

describe("follows matching entries oldest first, from the first or from any entry", () => {
  test.each([...FILTERS, ...RANGED, ...COMBINED])("%s", async (query, where) => {
    const expected = await idsWhere(where, "asc");
    expect(await follow(0, query, 2)).toEqual(expected.slice(0, 60));
    const from = Math.floor(expected.length / 2);
    expect(await follow(expected[from]!, query, 2)).toEqual(expected.slice(from + 1, from + 61));
    const { body } = await list(`${query}&after=0&page_size=1`);
    if (expected.length < 2) return;
    const second = await list(`${query}&after=0&page_token=${body.next_page_token}&page_size=1`);
    expect(second.body.data[0].id).toBe(expected[1]);
  });
});

/** Returns the SQL that the service sends for a filtered list. */
async function listQuery(query: string): Promise<SentQuery> {
  const sent = await queriesOf(service.app.em, async () => {
    expect(await list(query)).toMatchObject({ status: 200 });
  });
  // Background queries use other tables.
  const queries = sent.filter(({ sql: text }) => text.includes("audit_entry"));
  expect(queries.length).toBeLessThanOrEqual(2);
  return queries.at(-1)!;
}

describe("among 50,000 entries, a page of 25", () => {
  test.each([...FILTERS, ...RANGED])("reads at most 100 entries: %s", async (query) => {
    const { body } = await list(query);
    const next = body.next_page_token && `${query}&page_token=${body.next_page_token}`;
    const followed = [`${query}&after=0`, `${query}&after=${body.data.at(-1).id}`];
    for (const page of [query, ...(next ? [next] : []), ...followed]) {
      const plan = await planOf(sql, await listQuery(page));
      const { audit_entry: rows } = rowsTouched(plan);
      expect(rows, JSON.stringify(plan, null, 1)).toBeLessThanOrEqual(MAX_READ);
    }
  });

  test.each(COMBINED)("reads an index with several filters: %s", async (query) => {
    const plan = await planOf(sql, await listQuery(query));
    expect(plan.map((node) => node["Node Type"])).not.toContain("Seq Scan");
  });
});

test("an entry contains the actor, the action and the subject", async () => {
  const { body } = await list("operator=2&page_size=1");
  const [entry] = body.data;
  expect(entry).toEqual({
    id: expect.any(Number),
    created_at: "2026-01-01T06:56:22.000Z",
    actor: { kind: "operator", name: "Actor 5", operator: 2, api_key: null },
    action: actionOf(49_964),
    subject: "workspace/64",
    workspace: 14,
    changes: [{ field: "name", before: null, after: "Acme" }],
    request_id: expect.stringMatching(/^request-\d+$/),
    subject_name: null,
  });
  // Every fourth entry has an operator as its actor, and no other entry has one.
  const newest = (await list(`${BEFORE}&page_size=4`)).body.data.map(({ actor }: any) => actor);
  const kinds = new Map(newest.map(({ kind, operator }: any) => [kind, operator]));
  expect(kinds).toEqual(
    new Map([
      ["operator", expect.any(Number)],
      ["command_line", null],
      ["api_key", null],
      ["service", null],
    ]),
  );
});

test.each(["operator=0", "workspace=-1", "operator=999", "subject=workspace/999"])(
  "filters without matches (%s) return an empty list",
  async (query) => {
    expect((await list(query)).body).toEqual({ data: [], next_page_token: "" });
  },
);

const ACTIONS = `action must be one of ${AUDIT_ACTIONS.join(", ")}.`;
const SUBJECTS =
  "subject must be one of workspace, api_key, person, customer, courier, operator, tariff_draft, " +
  "tariff_version, shipment, slot, a slash and an id, such as workspace/12.";

test.each([
  ["action=none", { action: [ACTIONS] }],
  ["subject=none/1", { subject: [SUBJECTS] }],
  ["subject=workspace/", { subject: [SUBJECTS] }],
  ["action=publishtariff&subject=12", { action: [ACTIONS], subject: [SUBJECTS] }],
  [
    `${AFTER}&created_before=2026-01-01T01:00:00Z`,
    { created_before: ["created_before must be later than created_after."] },
  ],
  ["after=999999999", { after: ["after must be the id of an audit entry, or 0 to start with the first entry."] }],
])("rejects invalid filters (%s) with the allowed values", async (query, errors) => {
  const { status, body } = await list(query);
  expect([status, body.errors]).toEqual([422, errors]);
});

test("rejects a page token of other filters", async () => {
  const { body } = await list("operator=2&page_size=1");
  const refused = await list(`operator=3&page_token=${body.next_page_token}`);
  expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, ["page_token"]]);
});

/** SQL that returns transactions waiting for a lock in this database, except row locks. */
const WAITING = `
  select from pg_locks join pg_database on pg_database.oid = pg_locks.database
  where datname = current_database() and locktype = 'advisory' and not granted`;

test("an entry that is committed late never precedes one that was already listed, on any replica", async () => {
  const replica = await startReplica(service.databaseUrl);
  const owner = await service.addOperator("owner");
  const last = (await idsWhere("true"))[0]!;
  const [recorded, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = service.app.em.fork().transactional(async (tx) => {
    await recordingChanges(tx, async () => {
      recordChange(
        tx,
        { ...callOf(1), method: "shipments.v1.ApiKeyService/CreateApiKey" },
        { subject: "operator/1", changes: [] },
      );
    });
    recorded.resolve();
    await commit.promise;
  });
  await recorded.promise;
  const before = await follow(last);
  const quick = replica.request("/admin/v1/workspaces", {
    apiKey: owner.key,
    body: { name: "Acme" },
  });
  let done = false;
  void quick.finally(() => (done = true));
  const isWaiting = async () => (await sql.query(WAITING)).rowCount! > 0;
  await eventually("the other change to wait or to finish", async () => (await isWaiting()) || done);
  const meanwhile = await follow(before.at(-1) ?? last);
  commit.resolve();
  expect((await quick).status).toBe(201);
  await slow;
  const after = await follow(meanwhile.at(-1) ?? before.at(-1) ?? last);
  const listed = [...before, ...meanwhile, ...after];
  const later = `(created_at, id) > (select created_at, id from audit_entry where id = ${last})`;
  expect(listed).toEqual(await idsWhere(later, "asc"));
  expect(listed.length).toBeGreaterThanOrEqual(2);
});

test("entries have the names of API keys, or their last characters without a name, even when revoked", async () => {
  const { id: workspace, apiKey } = await service.addWorkspace();
  const { createApiKey, listApiKeys } = service.as(apiKey);
  const { revokeWorkspaceApiKey } = service.as((await service.addOperator("operator")).key);
  await data(createApiKey({ name: "Shop" }));
  for (const { id, name, last4 } of await data(listApiKeys())) {
    await data(revokeWorkspaceApiKey({ workspace, key: id }));
    const { body } = await list(`subject=api_key/${id}&action=RevokeWorkspaceApiKey`);
    expect(body.data.map((entry: any) => entry.subject_name)).toEqual([name ?? last4]);
  }
});

test("entries have the current names of their couriers, read with one statement", async () => {
  const subjects: string[] = [];
  for (const name of ["Ada", "Grace"]) {
    const { apiKey } = await service.addWorkspace();
    const { createCourier, updateCourier } = service.as(apiKey);
    const { id } = await data(createCourier({ name }));
    await data(updateCourier({ courier: id, name: `${name} L.` }));
    subjects.unshift(`courier/${id}`);
  }
  const { id: other } = await service.addWorkspace();
  await sql.query(
    `insert into audit_entry (created_at, actor, actor_name, action, subject, workspace_id, changes)
     select max(created_at), 'service', 'Test', 'UpdateCourier', $1, $2, '[]' from audit_entry`,
    [subjects[0], other],
  );
  const sent = await queriesOf(service.app.em, async () => {
    const { body } = await list("action=UpdateCourier&page_size=3");
    expect(body.data.map(({ subject, subject_name }: any) => [subject, subject_name])).toEqual([
      [subjects[0], null],
      [subjects[0], "Grace L."],
      [subjects[1], "Ada L."],
    ]);
  });
  expect(sent.filter(({ sql: text }) => /\bcourier\b/.test(text))).toHaveLength(1);
});

test("an entry has the name of the changed person or operator", async () => {
  const { apiKey, id: workspace } = await service.addWorkspace();
  const email = "ada@example.org";
  await service.request("/v1/members", { apiKey, body: { email, role: "viewer" } });
  const named = async (query: string) =>
    (await list(query)).body.data.map(({ subject, subject_name }: any) => [subject, subject_name]);
  expect(await named(`workspace=${workspace}&action=InviteMember&page_size=1`)).toEqual([
    [expect.stringMatching(/^person\//), email],
  ]);
  const { key } = await service.addOperator();
  const { body: made } = await service.request("/admin/v1/operators", {
    apiKey: key,
    body: { name: "Grace Hopper", kind: "machine", role: "viewer" },
  });
  expect(await named("action=CreateOperator&page_size=1")).toEqual([[`operator/${made.data.id}`, "Grace Hopper"]]);
});
