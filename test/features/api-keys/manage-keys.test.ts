import { describe, expect, test } from "vitest";
import {
  ApiKeyService,
  CreateApiKeyResponseSchema,
  ListApiKeysResponseSchema,
  RotateApiKeyResponseSchema,
} from "../../../gen/shipments/v1/api_key_service_pb.js";
import { auditEntriesOf } from "../../support/audit.ts";
import { ANY_TIME, COVERED_ROUTE } from "../../support/bookings.ts";
import { signIn } from "../../support/browser.ts";
import { inDialect } from "../../support/dialect.ts";
import { errorBody } from "../../support/endpoints.ts";
import { eventually } from "../../support/eventually.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { startReplica, sharedService, type TestService } from "../../support/service.ts";

const ANY_ID = expect.stringMatching(/^key_[0-9a-f]{24}$/);
const ANY_SECRET = expect.stringMatching(/^shp_[0-9A-Za-z]{36}$/);
const NO_KEY = `key_${"0".repeat(24)}`;
const NOT_FOUND = errorBody("There is no such key.");
const LAST_TEXT = "This is the last key of full scope that is not to end; create another first.";
const LAST = errorBody(LAST_TEXT, "api_key");
const TEN = "The workspace has 10 keys, and no more fit: revoke one first.";
const TWENTY =
  "The workspace has 20 keys that work, with those that are to end, and no more fit: revoke one first.";

const service = await sharedService();
const replica = await startReplica(service.databaseUrl);

/** A use is recorded some seconds later. */
const USED_OR_NOT = expect.toBeOneOf([null, ANY_TIME]);

/** A key as callers see it, of full scope, with no name or end unless given. */
const keyWith = (fields: object) => ({
  id: ANY_ID,
  name: null,
  last4: expect.stringMatching(/^\w{4}$/),
  created_at: ANY_TIME,
  last_used_at: USED_OR_NOT,
  ends_at: null,
  current: false,
  scope: "full",
  ...fields,
});

const post = async (apiKey: string, path: string, body: object = {}, headers = {}) => {
  const answer = await service.request(`/v1/api_keys${path}`, { apiKey, body, headers });
  return { status: answer.status, body: answer.body };
};
const update = async (apiKey: string, id: string, body: object) => {
  const request = { apiKey, method: "PATCH", body };
  const answer = await service.request(`/v1/api_keys/${id}`, request);
  return { status: answer.status, body: answer.body };
};
const create = async (apiKey: string, name: string) => {
  const { status, body } = await post(apiKey, "", { name });
  expect(status, JSON.stringify(body)).toBe(201);
  return body as { data: { id: string }; api_key: string };
};
const list = async (apiKey: string): Promise<any[]> =>
  (await service.request("/v1/api_keys", { apiKey })).body.data;
const ownId = async (apiKey: string): Promise<string> =>
  (await list(apiKey)).find(({ current }) => current).id;
const statusOn = async (on: TestService, apiKey: string) =>
  (await on.request("/v1/workspace", { apiKey })).status;

test("a created key is listed after the older ones, is shown once, and works", async () => {
  const { apiKey } = await service.addWorkspace();
  const { status, body } = await post(apiKey, "", { name: " CI of the web shop " });
  const last4 = body.api_key.slice(-4);
  const made = keyWith({ name: "CI of the web shop", last4, last_used_at: null });
  expect({ status, body }).toEqual({ status: 201, body: { data: made, api_key: ANY_SECRET } });
  const answer = await service.request("/v1/api_keys", { apiKey });
  expect(answer.body).toEqual({
    data: [keyWith({ last4: apiKey.slice(-4), current: true }), body.data],
    next_page_token: "",
  });
  expect(answer.text).not.toContain(apiKey.slice(4, -4));
  expect((await list(body.api_key)).map(({ current }) => current)).toEqual([false, true]);
});

test("keys are managed by gRPC with the same answers as by JSON", async () => {
  const { apiKey } = await service.addWorkspace();
  const grpc = service.grpcClient(apiKey, ApiKeyService);
  const created = await grpc.createApiKey({ name: "one" });
  expect(inDialect(CreateApiKeyResponseSchema, created)).toEqual({
    data: keyWith({ name: "one" }),
    api_key: ANY_SECRET,
  });
  const rotated = await grpc.rotateApiKey({ key: created.data!.id, overlapSeconds: 60 });
  expect(inDialect(RotateApiKeyResponseSchema, rotated)).toEqual({
    data: keyWith({ name: "one" }),
    api_key: ANY_SECRET,
  });
  const listed = await grpc.listApiKeys({});
  const byJson = await service.request("/v1/api_keys", { apiKey });
  expect(inDialect(ListApiKeysResponseSchema, listed)).toEqual(byJson.body);
  await grpc.revokeApiKey({ key: rotated.data!.id });
  expect(await rpcError(grpc.revokeApiKey({ key: rotated.data!.id }))).toEqual(
    rpcRefusal("NotFound", "API_KEY_NOT_FOUND", NOT_FOUND.message),
  );
  const own = await ownId(apiKey);
  expect(await rpcError(grpc.revokeApiKey({ key: own }))).toEqual(
    rpcRefusal("FailedPrecondition", "API_KEY_LAST", LAST.message, "api_key"),
  );
});

test("a rotated key is replaced by one of its name, works until its overlap ends, and others stay", async () => {
  const { apiKey } = await service.addWorkspace();
  const { data, api_key: old } = await create(apiKey, "shop");
  const rotatedAt = Date.now();
  const { status, body } = await post(apiKey, `/${data.id}/rotate`, { overlap_seconds: 3_600 });
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      data: keyWith({ name: "shop", last4: body.api_key.slice(-4) }),
      api_key: ANY_SECRET,
    },
  });
  expect(body.data.id).not.toBe(data.id);
  const [own, ending, made] = await list(apiKey);
  expect([own, ending, made]).toEqual([
    keyWith({ current: true }),
    { ...data, ends_at: ANY_TIME },
    body.data,
  ]);
  expect((Date.parse(ending.ends_at) - rotatedAt) / 60_000).toBeCloseTo(60, 0);
  expect([await statusOn(service, old), await statusOn(service, body.api_key)]).toEqual([200, 200]);

  // A key that is to end ends no later than it was to.
  await post(apiKey, `/${data.id}/rotate`, { overlap_seconds: 604_800 });
  expect((await list(apiKey)).find(({ id }) => id === data.id).ends_at).toBe(ending.ends_at);
});

test("a key that is rotated without an overlap, or revoked, soon works nowhere", async () => {
  const { apiKey } = await service.addWorkspace();
  const [first, second] = [await create(apiKey, "first"), await create(apiKey, "second")];
  for (const on of [service, replica]) {
    expect(await statusOn(on, first.api_key)).toBe(200);
    expect(await statusOn(on, second.api_key)).toBe(200);
  }
  await post(apiKey, `/${first.data.id}/rotate`);
  expect(await post(apiKey, `/${second.data.id}/revoke`)).toEqual({ status: 200, body: {} });
  await eventually("both keys to be refused everywhere", async () => {
    const statuses = [service, replica].flatMap((on) =>
      [first, second].map(({ api_key }) => statusOn(on, api_key)),
    );
    return (await Promise.all(statuses)).every((status) => status === 401);
  });
  expect((await list(apiKey)).map(({ name }) => name)).toEqual([null, "first"]);
  expect(await statusOn(replica, apiKey)).toBe(200);
});

test("a key can replace or revoke itself", async () => {
  const { apiKey } = await service.addWorkspace();
  const { body } = await post(apiKey, `/${await ownId(apiKey)}/rotate`, { overlap_seconds: 0 });
  await eventually("the old key's end", async () => (await statusOn(service, apiKey)) === 401);
  const other = await create(body.api_key, "other");
  expect((await post(body.api_key, `/${await ownId(body.api_key)}/revoke`)).status).toBe(200);
  expect(await list(other.api_key)).toEqual([keyWith({ name: "other", current: true })]);
});

test("a key that replaces itself works for 10 minutes more, in which the lost answer can be had again", async () => {
  const { apiKey } = await service.addWorkspace();
  const own = await ownId(apiKey);
  const { data: other } = await create(apiKey, "other");
  const rotate = (headers = {}) => post(apiKey, `/${own}/rotate`, {}, headers);
  const rotatedAt = Date.now();
  const first = await rotate({ "idempotency-key": "rotate-own" });
  expect(first).toEqual({ status: 200, body: { data: keyWith({}), api_key: ANY_SECRET } });
  expect(await rotate({ "idempotency-key": "rotate-own" })).toEqual(first);
  const [old, ...rest] = await list(apiKey);
  expect([old, rest]).toEqual([
    keyWith({ id: own, ends_at: ANY_TIME, current: true }),
    [other, first.body.data],
  ]);
  expect((Date.parse(old.ends_at) - rotatedAt) / 60_000).toBeCloseTo(10, 0);
  // Nobody but the key that it was made for is shown the new one.
  const refused = await post(
    first.body.api_key,
    `/${own}/rotate`,
    {},
    { "idempotency-key": "rotate-own" },
  );
  expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, ["idempotency_key"]]);
});

describe("a read-only key", () => {
  const SHORT = (method: string) => ({
    status: 403,
    body: errorBody(`${method} needs a key of the scope full; that of yours is read_only.`),
  });

  test("reads and quotes, and is refused whatever changes something, saying what is missing", async () => {
    const { apiKey } = await service.addWorkspace();
    const made = await post(apiKey, "", { name: "reports", scope: "read_only" });
    const key = keyWith({ name: "reports", scope: "read_only" });
    expect(made).toEqual({ status: 201, body: { data: key, api_key: ANY_SECRET } });
    const { api_key: secret } = made.body;
    expect((await list(secret)).at(-1)).toEqual({ ...made.body.data, current: true });
    const quoted = await service.request("/v1/shipments/quote", {
      apiKey: secret,
      body: COVERED_ROUTE,
    });
    expect([quoted.status, await statusOn(service, secret)]).toEqual([200, 200]);
    expect(await post(secret, "", { name: "more" })).toEqual(SHORT("CreateApiKey"));
    const grpc = service.grpcClient(secret, ApiKeyService);
    expect(await rpcError(grpc.createApiKey({ name: "more" }))).toEqual(
      rpcRefusal("PermissionDenied", "SCOPE_INSUFFICIENT", SHORT("CreateApiKey").body.message),
    );
  });

  test("stays one when it is rotated", async () => {
    const { apiKey } = await service.addWorkspace();
    const { body } = await post(apiKey, "", { name: "reports", scope: "read_only" });
    const rotated = await post(apiKey, `/${body.data.id}/rotate`);
    const key = keyWith({ name: "reports", scope: "read_only" });
    expect(rotated.body).toEqual({ data: key, api_key: ANY_SECRET });
    expect(await post(rotated.body.api_key, "", {})).toEqual(SHORT("CreateApiKey"));
  });

  test("does not count as another key when the last one of full scope is to end, or to be read-only", async () => {
    const { apiKey } = await service.addWorkspace();
    const own = await ownId(apiKey);
    const { body } = await post(apiKey, "", { name: "reports", scope: "read_only" });
    for (const refused of [
      await post(apiKey, `/${own}/revoke`),
      await update(apiKey, own, { scope: "read_only" }),
    ]) {
      expect(refused).toEqual({ status: 422, body: LAST });
    }
    expect((await post(apiKey, `/${body.data.id}/revoke`)).status).toBe(200);
  });
});

test("a key is renamed and given another scope, which soon holds everywhere", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const { data, api_key: secret } = await create(apiKey, "shop");
  for (const on of [service, replica]) expect(await statusOn(on, secret)).toBe(200);
  // Its use is recorded in the background, before or after.
  const changed = { ...data, last_used_at: USED_OR_NOT, name: "reports", scope: "read_only" };
  const request = { name: " reports ", scope: "read_only" };
  expect(await update(apiKey, data.id, request)).toEqual({ status: 200, body: { data: changed } });
  expect(await update(apiKey, data.id, {})).toEqual({ status: 200, body: { data: changed } });
  for (const on of [service, replica]) {
    await eventually("the new scope", async () => {
      const { status } = await on.request("/v1/api_keys", { apiKey: secret, body: {} });
      return status === 403;
    });
  }
  const renamed = await update(apiKey, data.id, { name: "shop" });
  expect(renamed.body).toEqual({ data: { ...changed, name: "shop" } });
  const [, , ...entries] = await auditEntriesOf(service, id);
  expect(entries.map(({ action, changes }) => [action, changes])).toEqual([
    [
      "UpdateApiKey",
      [
        { field: "name", before: "shop", after: "reports" },
        { field: "scope", before: "full", after: "read_only" },
      ],
    ],
    ["UpdateApiKey", [{ field: "name", before: "reports", after: "shop" }]],
  ]);
});

describe("the last key that is not to end", () => {
  test("cannot be revoked, whatever other keys are to end", async () => {
    const { apiKey } = await service.addWorkspace();
    const own = await ownId(apiKey);
    expect(await post(apiKey, `/${own}/revoke`)).toEqual({ status: 422, body: LAST });
    const { data } = await create(apiKey, "other");
    await post(apiKey, `/${data.id}/rotate`, { overlap_seconds: 3_600 });
    const { id: made } = (await list(apiKey)).at(-1);
    expect((await post(apiKey, `/${made}/revoke`)).status).toBe(200);
    expect(await post(apiKey, `/${own}/revoke`)).toEqual({ status: 422, body: LAST });
    // One that is to end can end sooner.
    expect((await post(apiKey, `/${data.id}/revoke`)).status).toBe(200);
    expect(await list(apiKey)).toEqual([keyWith({ id: own, current: true })]);
  });

  test("is, when operators have ended it, the last one that works", async () => {
    const { apiKey, id } = await service.addWorkspace();
    const own = await ownId(apiKey);
    const { key: apiKeyOfOperator } = await service.addOperator("operator");
    const asOperator = (path: string, body: object) =>
      service.request(`/admin/v1/workspaces/${id}/api_keys${path}`, {
        apiKey: apiKeyOfOperator,
        body,
      });
    const rotated = await asOperator("/rotate", { overlap_seconds: 3_600 });
    expect((await asOperator(`/${rotated.body.data.id}/revoke`, {})).status).toBe(200);
    const text = "This is the last key of full scope that works; create another first.";
    expect(await post(apiKey, `/${own}/revoke`)).toEqual({
      status: 422,
      body: errorBody(text, "api_key"),
    });
  });

  test("is left by revocations that race for the last two", async () => {
    for (let round = 0; round < 5; round++) {
      const { apiKey } = await service.addWorkspace();
      const { data } = await create(apiKey, "other");
      const own = await ownId(apiKey);
      const answers = await Promise.all([
        post(apiKey, `/${own}/revoke`),
        replica.request(`/v1/api_keys/${data.id}/revoke`, { apiKey, body: {} }),
      ]);
      const [first, second] = answers.map(({ status }) => status).toSorted((a, b) => a - b);
      expect(first).toBe(200);
      // 401 when the key of both calls went first, and the other process knew in time.
      expect([401, 422]).toContain(second);
    }
  });
});

describe("a workspace has", () => {
  test("up to 10 keys that are not to end", async () => {
    const { apiKey } = await service.addWorkspace();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => post(apiKey, "", { name: `key ${i}` })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array<number>(9).fill(201),
      ...Array<number>(3).fill(422),
    ]);
    const refused = errorBody(TEN, "api_key");
    expect(await post(apiKey, "", { name: "one more" })).toEqual({ status: 422, body: refused });
    const keys = await list(apiKey);
    expect(keys).toHaveLength(10);
    // A rotation leaves as many as before, until the one that is rotated was to end anyway.
    const rotate = `/${keys[1].id}/rotate`;
    expect((await post(apiKey, rotate, { overlap_seconds: 60 })).status).toBe(200);
    expect(await post(apiKey, rotate, { overlap_seconds: 60 })).toEqual({
      status: 422,
      body: refused,
    });
  });

  test("up to 20 keys that work, with those that are to end", async () => {
    const { apiKey } = await service.addWorkspace();
    const rotate = async (overlap_seconds: number) =>
      post(apiKey, `/${(await list(apiKey)).at(-1).id}/rotate`, { overlap_seconds });
    await create(apiKey, "rotated");
    for (let i = 0; i < 18; i++) expect((await rotate(3_600)).status).toBe(200);
    const refused = { status: 422, body: errorBody(TWENTY, "api_key") };
    expect(await rotate(3_600)).toEqual(refused);
    expect(await post(apiKey, "", { name: "one more" })).toEqual(refused);
    expect(await list(apiKey)).toHaveLength(20);
    expect((await rotate(0)).status).toBe(200);
    expect(await list(apiKey)).toHaveLength(20);
  });
});

describe("there is no key", () => {
  test.each(["rotate", "revoke", "update"])(
    "to %s that is unknown, foreign or has ended",
    async (verb) => {
      const { apiKey } = await service.addWorkspace();
      const other = await service.addWorkspace();
      const foreign = await ownId(other.apiKey);
      const { data: ended } = await create(apiKey, "ended");
      await post(apiKey, `/${ended.id}/revoke`);
      for (const id of [NO_KEY, foreign, ended.id]) {
        const answer =
          verb === "update"
            ? await update(apiKey, id, { name: "mine now" })
            : await post(apiKey, `/${id}/${verb}`);
        expect(answer).toEqual({ status: 404, body: NOT_FOUND });
      }
      expect(await list(other.apiKey)).toEqual([keyWith({ id: foreign, current: true })]);
    },
  );
});

test("requests that break a rule of a field are refused by its name", async () => {
  const { apiKey } = await service.addWorkspace();
  const own = await ownId(apiKey);
  const cases: [path: string, body: object, field: string][] = [
    ["", {}, "name"],
    ["", { name: " " }, "name"],
    ["", { name: "x".repeat(101) }, "name"],
    [`/${own}/rotate`, { overlap_seconds: -1 }, "overlap_seconds"],
    [`/${own}/rotate`, { overlap_seconds: 604_801 }, "overlap_seconds"],
  ];
  for (const [path, fields, field] of cases) {
    const { status, body } = await post(apiKey, path, fields);
    expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
  }
});

test("a call that is repeated with its idempotency key has its effect once", async () => {
  const { apiKey } = await service.addWorkspace();
  const twice = async (path: string, body: object) => {
    const headers = { "idempotency-key": `of ${path}`.replaceAll(" ", "-") };
    const [first, second] = [
      await post(apiKey, path, body, headers),
      await post(apiKey, path, body, headers),
    ];
    expect(second).toEqual(first);
    return first;
  };
  const created = await twice("", { name: "once" });
  expect(created.status).toBe(201);
  const rotated = await twice(`/${created.body.data.id}/rotate`, { overlap_seconds: 60 });
  expect((await list(apiKey)).map(({ id }) => id)).toEqual([
    await ownId(apiKey),
    created.body.data.id,
    rotated.body.data.id,
  ]);
  expect((await twice(`/${rotated.body.data.id}/revoke`, {})).status).toBe(200);
});

test("each change is recorded once, by the name of the key that made it, without a secret", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const named = await create(apiKey, "shop");
  const ofShop = { apiKey: named.api_key, headers: { "x-request-id": "rotating" } };
  const path = `/v1/api_keys/${named.data.id}/rotate`;
  const body = { overlap_seconds: 60 };
  const rotated = (await service.request(path, { ...ofShop, body })).body;
  await post(apiKey, `/${rotated.data.id}/revoke`);
  const [first, ...entries] = await auditEntriesOf(service, id);
  expect(first.action).toBe("CreateWorkspace");
  const by = (actor_name: string) => ({ actor: "api_key", actor_name, operator_id: null });
  expect(entries).toEqual([
    {
      ...by(apiKey.slice(-4)),
      action: "CreateApiKey",
      subject: `api_key/${named.data.id}`,
      changes: [
        { field: "name", before: null, after: "shop" },
        { field: "scope", before: null, after: "full" },
        { field: "last4", before: null, after: named.api_key.slice(-4) },
      ],
      request_id: expect.any(String),
    },
    {
      ...by("shop"),
      action: "RotateApiKey",
      subject: `api_key/${named.data.id}`,
      changes: [
        { field: "ends_at", before: null, after: ANY_TIME },
        { field: "replaced_by", before: null, after: rotated.data.id },
      ],
      request_id: "rotating",
    },
    {
      ...by(apiKey.slice(-4)),
      action: "RevokeApiKey",
      subject: `api_key/${rotated.data.id}`,
      changes: [{ field: "ends_at", before: null, after: ANY_TIME }],
      request_id: expect.any(String),
    },
  ]);
  for (const secret of [apiKey, named.api_key, rotated.api_key]) {
    expect(JSON.stringify(entries)).not.toContain(secret.slice(4, -4));
  }
});

test("an admin of the workspace manages its keys, none of which is current, under the own email", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const admin = await signIn(service, apiKey, { email: "admin@example.org", role: "admin" });
  const headers = { "x-workspace": String(id) };
  const body = { name: "by a person" };
  const made = await admin.request("/v1/api_keys", { method: "POST", headers, body });
  expect([made.status, made.body]).toEqual([201, { data: keyWith(body), api_key: ANY_SECRET }]);
  const listed = await admin.request("/v1/api_keys", { headers });
  expect(listed.body.data).toEqual([
    expect.objectContaining({ last4: apiKey.slice(-4), current: false }),
    made.body.data,
  ]);
  const [entry] = (await auditEntriesOf(service, id)).slice(-1);
  expect(entry).toMatchObject({
    actor: "person",
    actor_name: "admin@example.org",
    action: "CreateApiKey",
  });
});

test("a refused change is not recorded", async () => {
  const { id, apiKey } = await service.addWorkspace();
  await post(apiKey, `/${await ownId(apiKey)}/revoke`);
  await post(apiKey, `/${NO_KEY}/rotate`);
  expect((await auditEntriesOf(service, id)).map(({ action }) => action)).toEqual([
    "CreateWorkspace",
  ]);
});
