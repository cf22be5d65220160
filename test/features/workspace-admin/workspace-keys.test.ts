import { expect, test } from "vitest";
import { auditEntriesOf } from "../../support/audit.ts";
import { ANY_TIME } from "../../support/bookings.ts";
import { errorBody } from "../../support/endpoints.ts";
import { eventually } from "../../support/eventually.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const operator = await service.addOperator("operator");

const ask = async (id: number, path: string, body?: object, { headers = {}, method = "" } = {}) => {
  const answer = await service.request(`/admin/v1/workspaces/${id}/api_keys${path}`, {
    apiKey: operator.key,
    headers,
    ...(body === undefined ? {} : { body }),
    ...(method === "" ? {} : { method }),
  });
  return { status: answer.status, body: answer.body };
};
const list = async (id: number): Promise<any[]> => (await ask(id, "")).body.data;
const statusWith = async (apiKey: string) =>
  (await service.request("/v1/workspace", { apiKey })).status;
const refused = (apiKey: string) =>
  eventually("the key to be refused", async () => (await statusWith(apiKey)) === 401);
const recordedOn = async (id: number) =>
  (await auditEntriesOf(service, id))
    .slice(1)
    .map(({ actor_name, action, subject, changes }) => [actor_name, action, subject, changes]);

test("an operator lists a workspace's working keys without their secrets, and adds one that works", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const { status, body } = await ask(id, "", { name: "for support" });
  expect({ status, body }).toEqual({
    status: 201,
    body: {
      data: {
        id: expect.stringMatching(/^key_[0-9a-f]{24}$/),
        name: "for support",
        last4: body.api_key.slice(-4),
        created_at: ANY_TIME,
        last_used_at: null,
        ends_at: null,
        current: false,
        scope: "full",
      },
      api_key: expect.stringMatching(/^shp_[0-9A-Za-z]{36}$/),
    },
  });
  const listed = await ask(id, "");
  expect(listed.body).toEqual({
    data: [expect.objectContaining({ last4: apiKey.slice(-4), current: false }), body.data],
    next_page_token: "",
  });
  expect(await statusWith(body.api_key)).toBe(200);
  expect(await recordedOn(id)).toEqual([
    [
      "Test operator",
      "CreateWorkspaceApiKey",
      `api_key/${body.data.id}`,
      [
        { field: "name", before: null, after: "for support" },
        { field: "scope", before: null, after: "full" },
        { field: "last4", before: null, after: body.data.last4 },
      ],
    ],
  ]);
});

test("an operator names a workspace's key and makes it read-only, even if it is the last", async () => {
  const { id } = await service.addWorkspace();
  const [key] = (await ask(id, "")).body.data;
  const changed = { ...key, name: "reports", scope: "read_only" };
  const fields = { name: "reports", scope: "read_only" };
  const { status, body } = await ask(id, `/${key.id}`, fields, { method: "PATCH" });
  expect({ status, body }).toEqual({ status: 200, body: { data: changed } });
  expect((await ask(id, "")).body.data).toEqual([changed]);
  const { status: missing } = await ask(id, `/key_${"0".repeat(24)}`, fields, { method: "PATCH" });
  expect(missing).toBe(404);
});

test("an operator adds no more than 10 keys that are not to end", async () => {
  const { id } = await service.addWorkspace();
  for (let i = 0; i < 9; i++) expect((await ask(id, "", { name: "one" })).status).toBe(201);
  const text = "The workspace has 10 keys, and no more fit: revoke one first.";
  expect(await ask(id, "", { name: "one more" })).toEqual({
    status: 422,
    body: errorBody(text, "api_key"),
  });
});

test("a rotation replaces all keys by one, at once or after the overlap, and is recorded whole", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const second = (await ask(id, "", { name: "second" })).body;
  const overlapping = await ask(id, "/rotate", { overlap_seconds: 3_600 });
  expect(overlapping).toMatchObject({
    status: 200,
    body: { data: { name: null, ends_at: null, last4: overlapping.body.api_key.slice(-4) } },
  });
  const [one, two, three] = await list(id);
  expect([one, two, three].map(({ ends_at }) => ends_at)).toEqual([ANY_TIME, ANY_TIME, null]);
  expect(three).toEqual(overlapping.body.data);
  for (const key of [apiKey, second.api_key, overlapping.body.api_key]) {
    expect(await statusWith(key)).toBe(200);
  }

  const final = await ask(id, "/rotate", {});
  for (const key of [apiKey, second.api_key, overlapping.body.api_key]) await refused(key);
  expect(await statusWith(final.body.api_key)).toBe(200);
  const left = await list(id);
  expect(left.map((key) => key.id)).toEqual([final.body.data.id]);

  const [, first, last] = await recordedOn(id);
  expect(first).toEqual([
    "Test operator",
    "RotateWorkspaceApiKeys",
    `workspace/${id}`,
    [
      { field: `api_key/${one.id}.ends_at`, before: null, after: one.ends_at },
      { field: `api_key/${two.id}.ends_at`, before: null, after: two.ends_at },
      { field: "new_api_key", before: null, after: three.id },
    ],
  ]);
  expect(last![3]).toContainEqual({
    field: `api_key/${one.id}.ends_at`,
    before: one.ends_at,
    after: ANY_TIME,
  });
});

test("rotations with an overlap stop at 20 working keys; one without is always possible", async () => {
  const { id } = await service.addWorkspace();
  const rotate = (overlap_seconds: number) => ask(id, "/rotate", { overlap_seconds });
  for (let i = 0; i < 19; i++) expect((await rotate(3_600)).status).toBe(200);
  const text =
    "The workspace has 20 keys that work, with those that are to end, and no more fit: revoke one first.";
  expect(await rotate(3_600)).toEqual({ status: 422, body: errorBody(text, "api_key") });
  expect(await list(id)).toHaveLength(20);
  expect((await rotate(0)).status).toBe(200);
  expect(await list(id)).toHaveLength(1);
});

test("an operator revokes even the last key, of the workspace that is named alone", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const other = await service.addWorkspace();
  const [{ id: key }] = await list(id);
  const gone = { status: 404, body: errorBody("There is no such key.") };
  expect(await ask(other.id, `/${key}/revoke`, {})).toEqual(gone);
  expect(await statusWith(apiKey)).toBe(200);
  const headers = { "idempotency-key": "revoke-it" };
  for (let i = 0; i < 2; i++) {
    expect(await ask(id, `/${key}/revoke`, {}, { headers })).toEqual({ status: 200, body: {} });
  }
  expect(await ask(id, `/${key}/revoke`, {})).toEqual(gone);
  await refused(apiKey);
  expect(await list(id)).toEqual([]);
  expect(await recordedOn(id)).toEqual([
    [
      "Test operator",
      "RevokeWorkspaceApiKey",
      `api_key/${key}`,
      [{ field: "ends_at", before: null, after: ANY_TIME }],
    ],
  ]);
  const { body } = await ask(id, "/rotate", {});
  expect(await statusWith(body.api_key)).toBe(200);
});
