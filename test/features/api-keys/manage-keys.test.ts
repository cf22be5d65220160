import { describe, expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { auditEntriesOf } from "../../support/audit.ts";
import { ANY_TIME, COVERED_ROUTE } from "../../support/bookings.ts";
import { signIn } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { sharedService, type TestWorkspace } from "../../support/service.ts";

const ANY_SECRET = expect.stringMatching(/^shp_[0-9A-Za-z]{36}$/);
const NO_KEY = `key_${"0".repeat(24)}`;
const KEY_LIMIT = { api_key: "The workspace has reached its limit of 10 keys. Revoke one first." };
const ACTIVE_KEY_LIMIT = {
  api_key: "The workspace has reached its limit of 20 active keys, expiring ones included. Revoke one first.",
};
const LAST = {
  api_key: "This is the last key without expiry with full scope. Create another one first.",
};

const service = await sharedService();
const { key: operator } = await service.addOperator("operator");

/** Returns a key as responses show it, by default with full scope and without name and expiry. */
const keyWith = (fields: object) => ({
  id: expect.stringMatching(/^key_[0-9a-f]{24}$/),
  name: null,
  last4: expect.stringMatching(/^\w{4}$/),
  created_at: ANY_TIME,
  // The last use is recorded a few seconds later.
  last_used_at: expect.toBeOneOf([null, ANY_TIME]),
  ends_at: null,
  current: false,
  scope: "full",
  ...fields,
});
const created = (fields: object) => ({ data: keyWith(fields), api_key: ANY_SECRET });

const list = (apiKey: string): Promise<any[]> => data(service.as(apiKey).listApiKeys());
const create = async (apiKey: string, name: string, scope?: string) =>
  (await service.as(apiKey).createApiKey({ name, scope })).body;
const ownId = async (apiKey: string): Promise<string> => (await list(apiKey)).find(({ current }) => current).id;
const statusWith = async (apiKey: string) => (await service.as(apiKey).getWorkspace()).status;
const untilRefused = (apiKey: string) => eventually("the key's end", async () => (await statusWith(apiKey)) === 401);

/** Adds keys that expire in an hour. */
const addEnding = ({ id }: TestWorkspace, count: number) =>
  service.app.em.execute(
    `insert into api_key (hash, id, workspace_id, last4, created_at, changed_at, ends_at)
     select rpad(md5(random()::text), 43, 'x'), 'key_' || left(md5(random()::text), 24), ?, 'abcd',
       now(), now(), now() + interval '1 hour'
     from generate_series(1, ?::int)`,
    [id, count],
  );

/** Calls that manage keys, for workspaces and for operators. */
const MANAGERS = {
  "a workspace": ({ apiKey }: TestWorkspace) => {
    const { createApiKey, updateApiKey, revokeApiKey } = service.as(apiKey);
    const of = { create: createApiKey, update: updateApiKey, revoke: revokeApiKey };
    return { ...of, list: () => list(apiKey) };
  },
  "an operator": ({ id: workspace }: TestWorkspace) => {
    const as = service.as(operator);
    return {
      create: (fields: object) => as.createWorkspaceApiKey({ workspace, ...fields }),
      update: (fields: object) => as.updateWorkspaceApiKey({ workspace, ...fields }),
      revoke: (fields: object) => as.revokeWorkspaceApiKey({ workspace, ...fields }),
      list: (): Promise<any[]> => data(as.listWorkspaceApiKeys({ workspace })),
    };
  },
};

describe.each(Object.entries(MANAGERS))("%s", (who, manager) => {
  test("creates a key that works at once, is listed after older ones, and is shown only once", async () => {
    const workspace = await service.addWorkspace();
    const keys = manager(workspace);
    const { body } = await keys.create({ name: " CI of the shop " });
    const last4 = body.api_key.slice(-4);
    expect(body).toEqual(created({ name: "CI of the shop", last4, last_used_at: null }));
    const first = { last4: workspace.apiKey.slice(-4), current: who === "a workspace" };
    const listed = await keys.list();
    expect(listed).toEqual([keyWith(first), body.data]);
    expect(JSON.stringify(listed)).not.toContain(workspace.apiKey.slice(4, -4));
    expect((await list(body.api_key)).map(({ current }) => current)).toEqual([false, true]);
  });

  test("renames a key and changes its scope, which soon takes effect", async () => {
    const workspace = await service.addWorkspace();
    const keys = manager(workspace);
    const { data: made, api_key: secret } = await create(workspace.apiKey, "shop");
    expect(await statusWith(secret)).toBe(200);
    const changed = keyWith({ ...made, name: "reports", scope: "read_only" });
    changed.last_used_at = keyWith({}).last_used_at;
    const fields = { key: made.id, name: " reports ", scope: "read_only" };
    expect(await data(keys.update(fields))).toEqual(changed);
    expect(await data(keys.update({ key: made.id }))).toEqual(changed);
    await eventually("the new scope", async () => {
      return (await service.as(secret).createApiKey()).status === 403;
    });
    const renamed = await data(keys.update({ key: made.id, name: "shop" }));
    expect(renamed).toEqual({ ...changed, name: "shop" });
    const [, , ...entries] = await auditEntriesOf(service, workspace.id);
    expect(entries.map(({ changes }) => changes)).toEqual([
      [
        { field: "name", before: "shop", after: "reports" },
        { field: "scope", before: "full", after: "read_only" },
      ],
      [{ field: "name", before: "reports", after: "shop" }],
    ]);
  });

  test("can have up to 10 keys without an expiry and 20 active keys", async () => {
    const [full, almostFull] = [await service.addWorkspace(), await service.addWorkspace()];
    const { create: add, list: listed } = manager(full);
    const adding = Array.from({ length: 12 }, (_, i) => add({ name: `key ${i}` }));
    const refused = (await Promise.all(adding)).filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(3);
    for (const answer of refused) await expectRefused(answer, "API_KEY_LIMIT", KEY_LIMIT);
    expect(await listed()).toHaveLength(10);
    await addEnding(almostFull, 19);
    const more = manager(almostFull).create({ name: "one more" });
    await expectRefused(more, "API_KEY_LIMIT", ACTIVE_KEY_LIMIT);
  });

  test("cannot access a key that is unknown, expired or belongs to another workspace", async () => {
    const [workspace, other] = [await service.addWorkspace(), await service.addWorkspace()];
    const keys = manager(workspace);
    const foreign = await ownId(other.apiKey);
    const { data: ended } = await create(workspace.apiKey, "ended");
    await keys.revoke({ key: ended.id });
    for (const key of [NO_KEY, foreign, ended.id]) {
      await expectRefused(keys.update({ key, name: "mine now" }), "API_KEY_NOT_FOUND");
      await expectRefused(keys.revoke({ key }), "API_KEY_NOT_FOUND");
      const rotated = service.as(workspace.apiKey).rotateApiKey({ key });
      await expectRefused(rotated, "API_KEY_NOT_FOUND");
    }
    expect(await list(other.apiKey)).toEqual([keyWith({ id: foreign, current: true })]);
  });

  test.each([{}, { name: " " }, { name: "x".repeat(101) }])("cannot use the key name %j", async (fields) => {
    const { body } = await manager(await service.addWorkspace()).create(fields);
    expect(Object.keys(body.errors)).toEqual(["name"]);
  });
});

describe("a workspace that rotates a key", () => {
  test("gets a new key with the same name and scope, while the old one works until its overlap ends", async () => {
    const { id, apiKey } = await service.addWorkspace();
    const { data: made, api_key: old } = await create(apiKey, "shop", "read_only");
    const of = { name: "shop", scope: "read_only" };
    const rotate = (key: string, overlap_seconds?: number) => service.as(apiKey).rotateApiKey({ key, overlap_seconds });
    const { body } = await rotate(made.id, 3_600);
    expect(body).toEqual(created({ ...of, last4: body.api_key.slice(-4) }));
    const [own, ending, fresh] = await list(apiKey);
    expect([own, ending, fresh]).toEqual([
      keyWith({ current: true }),
      keyWith({ ...of, id: made.id, ends_at: ANY_TIME }),
      body.data,
    ]);
    expect((Date.parse(ending.ends_at) - Date.parse(fresh.created_at)) / 60_000).toBeCloseTo(60);
    expect([await statusWith(old), await statusWith(body.api_key)]).toEqual([200, 200]);

    // Rotation never postpones a key's expiry.
    await rotate(made.id, 604_800);
    const kept = (await list(apiKey)).find((key) => key.id === made.id);
    expect(kept.ends_at).toBe(ending.ends_at);
    await rotate(made.id, 0);
    await untilRefused(old);
    const entries = await auditEntriesOf(service, id);
    expect(JSON.stringify(entries)).not.toContain(old.slice(4, -4));
  });

  test("can rotate the calling key, which stays active for 10 minutes in case the response is lost", async () => {
    const { id, apiKey } = await service.addWorkspace();
    const { data: other, api_key: shop } = await create(apiKey, "shop");
    const rotate = (key: string) =>
      service.as(key).rotateApiKey({ key: other.id }, { "idempotency-key": "rotate-own" });
    const { body: first } = await rotate(shop);
    expect((await rotate(shop)).body).toEqual(first);
    const [own, old, ...rest] = await list(shop);
    expect([own, old, rest]).toEqual([
      keyWith({ last4: apiKey.slice(-4) }),
      keyWith({ id: other.id, name: "shop", ends_at: ANY_TIME, current: true }),
      [first.data],
    ]);
    expect((Date.parse(old.ends_at) - Date.parse(first.data.created_at)) / 60_000).toBeCloseTo(10);
    const [entry] = (await auditEntriesOf(service, id)).slice(-1);
    expect(entry).toMatchObject({ actor: "api_key", actor_name: "shop", action: "RotateApiKey" });
    // Only the original caller gets the stored response, so a repeat with the new key is refused.
    expect((await rotate(first.api_key)).body.errors).toHaveProperty("idempotency_key");
  });

  test("needs room for one more key, unless the old one expires at once", async () => {
    const workspace = await service.addWorkspace();
    const { createApiKey, rotateApiKey } = service.as(workspace.apiKey);
    for (let i = 0; i < 9; i++) await createApiKey({ name: `key ${i}` });
    const { id: key } = (await list(workspace.apiKey))[1];
    // The rotation adds no key without an expiry, because the rotated key already had one.
    await data(rotateApiKey({ key, overlap_seconds: 60 }));
    const again = rotateApiKey({ key, overlap_seconds: 60 });
    await expectRefused(again, "API_KEY_LIMIT", KEY_LIMIT);
    await addEnding(workspace, 9);
    const { id: last } = (await list(workspace.apiKey))[2];
    const overlapping = rotateApiKey({ key: last, overlap_seconds: 60 });
    await expectRefused(overlapping, "API_KEY_LIMIT", ACTIVE_KEY_LIMIT);
    await data(rotateApiKey({ key: last, overlap_seconds: 0 }));
    expect(await list(workspace.apiKey)).toHaveLength(20);
  });

  test.each([-1, 604_801])("cannot choose an overlap of %i seconds", async (overlap_seconds) => {
    const { apiKey } = await service.addWorkspace();
    const { body } = await service.as(apiKey).rotateApiKey({ key: NO_KEY, overlap_seconds });
    expect(Object.keys(body.errors)).toEqual(["overlap_seconds"]);
  });
});

describe("an operator who rotates the keys of a workspace", () => {
  const rotate = (workspace: number, overlap_seconds?: number) =>
    service.as(operator).rotateWorkspaceApiKeys({ workspace, overlap_seconds });

  test("replaces all keys with one, at once or after the overlap, and every change is audited", async () => {
    const { id, apiKey } = await service.addWorkspace();
    const { api_key: second } = await create(apiKey, "second");
    const { body: third } = await rotate(id, 3_600);
    expect(third).toEqual(created({ last4: third.api_key.slice(-4) }));
    const listed = await list(third.api_key);
    expect(listed.map(({ ends_at }) => ends_at)).toEqual([ANY_TIME, ANY_TIME, null]);
    const { body: final } = await rotate(id);
    for (const key of [apiKey, second, third.api_key]) await untilRefused(key);
    expect(await list(final.api_key)).toEqual([keyWith({ id: final.data.id, current: true })]);
    const [, , first, last] = await auditEntriesOf(service, id);
    const [one, two] = listed;
    expect(first.changes).toEqual([
      { field: `api_key/${one.id}.ends_at`, before: null, after: one.ends_at },
      { field: `api_key/${two.id}.ends_at`, before: null, after: two.ends_at },
      { field: "new_api_key", before: null, after: third.data.id },
    ]);
    expect(last.changes).toContainEqual({
      field: `api_key/${one.id}.ends_at`,
      before: one.ends_at,
      after: ANY_TIME,
    });
  });

  test("is limited to 20 active keys, unless the others expire at once", async () => {
    const workspace = await service.addWorkspace();
    await addEnding(workspace, 19);
    await expectRefused(rotate(workspace.id, 60), "API_KEY_LIMIT", ACTIVE_KEY_LIMIT);
    await data(rotate(workspace.id, 0));
    expect(await MANAGERS["an operator"](workspace).list()).toHaveLength(1);
  });
});

test("a read-only key can read and quote, and does not count as the last key with full scope", async () => {
  const { apiKey } = await service.addWorkspace();
  const { data: made, api_key: secret } = await create(apiKey, "reports", "read_only");
  expect(made).toEqual(keyWith({ name: "reports", scope: "read_only" }));
  expect((await service.as(secret).quoteShipment(COVERED_ROUTE)).body.covered).toBe(true);
  const { revokeApiKey, updateApiKey } = service.as(apiKey);
  const key = await ownId(apiKey);
  await expectRefused(revokeApiKey({ key }), "API_KEY_LAST", LAST);
  await expectRefused(updateApiKey({ key, scope: "read_only" }), "API_KEY_LAST", LAST);
  expect((await revokeApiKey({ key: made.id })).body).toEqual({});
  await untilRefused(secret);
});

describe("the last key without an expiry", () => {
  test("can be revoked by an operator, but not by the workspace, even if it has keys with an expiry", async () => {
    const { id, apiKey } = await service.addWorkspace();
    const { revokeApiKey, rotateApiKey } = service.as(apiKey);
    const key = await ownId(apiKey);
    const { data: other } = await create(apiKey, "other");
    const rotated = await data(rotateApiKey({ key: other.id, overlap_seconds: 3_600 }));
    expect((await revokeApiKey({ key: rotated.id })).status).toBe(200);
    await expectRefused(revokeApiKey({ key }), "API_KEY_LAST", LAST);
    // A key with an expiry can be revoked before it expires.
    expect((await revokeApiKey({ key: other.id })).status).toBe(200);
    expect(await list(apiKey)).toEqual([keyWith({ id: key, current: true })]);

    const { revokeWorkspaceApiKey, rotateWorkspaceApiKeys } = service.as(operator);
    const { body } = await rotateWorkspaceApiKeys({ workspace: id, overlap_seconds: 3_600 });
    const revoked = await revokeWorkspaceApiKey({ workspace: id, key: body.data.id });
    expect(revoked.body).toEqual({});
    await expectRefused(revokeApiKey({ key }), "API_KEY_LAST", {
      api_key: "This is the last active key with full scope. Create another one first.",
    });
  });

  test("remains when revocations race for the last two", async () => {
    const { apiKey } = await service.addWorkspace();
    const { data: other, api_key: second } = await create(apiKey, "other");
    const answers = await Promise.all([
      service.as(second).revokeApiKey({ key: await ownId(apiKey) }),
      service.as(apiKey).revokeApiKey({ key: other.id }),
    ]);
    // The second call is refused because its key is the last one, or because the key was revoked.
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ code }) => /^API_KEY_LAST|CREDENTIAL_REFUSED$/.test(code ?? ""))).toHaveLength(1);
  });
});

test("an admin of the workspace manages its keys, and the audit log has the admin's email", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const email = "admin@example.org";
  const admin = await signIn(service, apiKey, { email, role: "admin" });
  const headers = { "x-workspace": String(id) };
  const made = await admin.request("/v1/api_keys", { headers, body: { name: "by a person" } });
  expect(made.body).toEqual(created({ name: "by a person" }));
  const listed = await admin.request("/v1/api_keys", { headers });
  expect(listed.body.data).toEqual([keyWith({ last4: apiKey.slice(-4) }), made.body.data]);
  const [entry] = (await auditEntriesOf(service, id)).slice(-1);
  expect(entry).toMatchObject({ actor: "person", actor_name: email, action: "CreateApiKey" });
});
