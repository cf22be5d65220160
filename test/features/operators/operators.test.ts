import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OperatorService } from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import { signInByPath, type SignedIn } from "../../support/browser.ts";
import { createDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { startReplica, type TestOperator, type TestService } from "../../support/service.ts";

const KEY = /^sho_[0-9A-Za-z]{36}$/;
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

const database = await createDatabase();
const service = await startReplica(database.url);
const other = await startReplica(database.url);

let owner: TestOperator;
beforeEach(async () => {
  owner = await service.addOperator("owner");
});
/** So that each test has only the owners that it makes. */
afterEach(() => sql("update operator set revoked_at = now() where revoked_at is null"));

const sql = (text: string) => service.app.em.fork().execute(text);

const call = (path: string, body?: object, { key = owner.key, headers = {}, method = "" } = {}) =>
  service.request(`/admin/v1${path}`, {
    apiKey: key,
    headers,
    ...(body === undefined ? {} : { body }),
    ...(method === "" ? {} : { method }),
  });

const create = (fields: object) => call("/operators", fields);
const update = (id: number, fields: object) =>
  call(`/operators/${id}`, fields, { method: "PATCH" });
const rotate = (id: number, fields: object = {}) => call(`/operators/${id}/rotate_key`, fields);
const revoke = (id: number) => call(`/operators/${id}/revoke`, {});
const selfOn = (replica: TestService, key: string) =>
  replica.request("/admin/v1/self", { apiKey: key });

const MACHINE = { name: "Deployer", kind: "machine", role: "operator" };
const PERSON = { name: "Ada", kind: "person", role: "viewer" };

let emails = 0;
const freshEmail = () => `ada${++emails}@example.org`;

/** A refusal as JSON, with one problem. */
const refusal = (status: number, subject: string | undefined, message: string) => ({
  status,
  body: { message, errors: subject === undefined ? {} : { [subject]: [message] } },
});
const brief = ({ status, body }: { status: number; body: unknown }) => ({ status, body });

const NOT_FOUND = refusal(404, undefined, "There is no such operator.");
const LAST_OWNER = refusal(
  422,
  "operator",
  "The operator is the last owner: make another one first.",
);
const REVOKED = refusal(422, "operator", "The operator was revoked, and cannot be changed.");
const TAKEN = refusal(409, "email", "Another operator has this email.");

test("an operator is created with a key that works, and is got and listed without it", async () => {
  const email = freshEmail();
  const { status, body } = await create({ ...PERSON, name: " Ada ", email });
  expect(status).toBe(201);
  expect(body).toEqual({
    data: {
      id: expect.any(Number),
      name: "Ada",
      email,
      kind: "person",
      role: "viewer",
      created_at: TIME,
      revoked_at: null,
      keys: [
        {
          id: expect.stringMatching(/^key_[0-9a-f]{24}$/),
          name: null,
          last4: body.operator_key.slice(-4),
          created_at: TIME,
          last_used_at: null,
          ends_at: null,
        },
      ],
    },
    operator_key: expect.stringMatching(KEY),
  });
  const { data } = body;
  // Before the key is used, which is recorded.
  expect(brief(await call(`/operators/${data.id}`))).toEqual({ status: 200, body: { data } });
  expect(brief(await selfOn(service, body.operator_key))).toEqual({ status: 200, body: { data } });
  const [row] = (await service.app.em
    .fork()
    .execute("select hash from operator_key where operator_id = ?", [data.id])) as [
    { hash: string },
  ];
  expect(row.hash).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test("GetSelf gives the operator of the key, by JSON and by gRPC", async () => {
  const { body } = await selfOn(service, owner.key);
  expect(body.data).toMatchObject({ id: owner.id, role: "owner", kind: "machine", email: null });
  const { data } = await service.grpcClient(owner.key, OperatorService).getSelf({});
  expect(Number(data?.id)).toBe(owner.id);
});

test("operators are listed oldest first, page by page, and the revoked ones only when asked for", async () => {
  const ids = [owner.id];
  for (let i = 0; i < 4; i++) ids.push((await create(MACHINE)).body.data.id);
  const [, , gone] = ids;
  await revoke(gone!);
  const pages = async (query: string) => {
    const listed: number[] = [];
    let token = "";
    do {
      const { body } = await call(`/operators?page_size=2${query}&page_token=${token}`);
      listed.push(...body.data.map(({ id }: { id: number }) => id));
      token = body.next_page_token;
    } while (token !== "");
    return listed;
  };
  expect(await pages("")).toEqual(ids.filter((id) => id !== gone));
  const all = await pages("&include_revoked=true");
  expect(all.slice(-ids.length)).toEqual(ids);
  expect(all).toEqual([...all].sort((a, b) => a - b));
});

test("a page token of operators with other filters is refused", async () => {
  await create(MACHINE);
  const { body } = await call("/operators?page_size=1");
  expect(
    brief(await call(`/operators?include_revoked=true&page_token=${body.next_page_token}`)),
  ).toEqual(
    refusal(
      422,
      "page_token",
      "page_token is not the next_page_token of a page with these filters.",
    ),
  );
});

describe("an email", () => {
  test("is required for a person", async () => {
    for (const email of [undefined, "", "  "]) {
      expect(brief(await create({ ...PERSON, email }))).toEqual(
        refusal(422, "email", "email is required for a person."),
      );
    }
  });

  test("is refused while another operator has it, in whatever case, by JSON and by gRPC", async () => {
    const email = freshEmail();
    await create({ ...PERSON, email });
    const { id } = (await create({ ...PERSON, email: freshEmail() })).body.data;
    const loud = email.toUpperCase();
    expect(brief(await create({ ...MACHINE, email: loud }))).toEqual(TAKEN);
    expect(brief(await update(id, { email: loud }))).toEqual(TAKEN);
    const byGrpc = service
      .grpcClient(owner.key, OperatorService)
      .updateOperator({ operator: BigInt(id), email: loud });
    expect(await rpcError(byGrpc)).toEqual(
      rpcRefusal(
        "AlreadyExists",
        "OPERATOR_EMAIL_TAKEN",
        "Another operator has this email.",
        "email",
      ),
    );
  });

  test("can be written in another case by the one who has it", async () => {
    const email = freshEmail();
    const { id } = (await create({ ...PERSON, email })).body.data;
    const { status, body } = await update(id, { email: email.toUpperCase() });
    expect([status, body.data.email]).toEqual([200, email.toUpperCase()]);
  });

  test("is free again when its operator is revoked", async () => {
    const email = freshEmail();
    const { id } = (await create({ ...PERSON, email })).body.data;
    await revoke(id);
    expect((await create({ ...PERSON, email })).status).toBe(201);
  });

  test("goes to one of those who take it at the same time", async () => {
    const email = freshEmail();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => create({ ...PERSON, email })),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(brief)).toEqual(Array.from({ length: 7 }, () => TAKEN));
  });
});

describe("the last owner", () => {
  test("can be neither revoked nor given a lesser role", async () => {
    expect(brief(await revoke(owner.id))).toEqual(LAST_OWNER);
    for (const role of ["viewer", "operator"]) {
      expect(brief(await update(owner.id, { role }))).toEqual(LAST_OWNER);
    }
    const { body } = await update(owner.id, { role: "owner", name: "Still here" });
    expect(body.data).toMatchObject({ role: "owner", name: "Still here" });
  });

  test("can go when there is another, whom a revoked owner is not", async () => {
    const another = (await create({ ...MACHINE, role: "owner" })).body;
    expect((await revoke(another.data.id)).status).toBe(200);
    expect(brief(await revoke(owner.id))).toEqual(LAST_OWNER);
    await create({ ...MACHINE, role: "owner" });
    expect((await revoke(owner.id)).status).toBe(200);
  });

  test("stays when all owners are revoked or demoted at the same time", async () => {
    const owners = [owner.id];
    for (let i = 0; i < 3; i++) {
      owners.push((await create({ ...MACHINE, role: "owner" })).body.data.id);
    }
    const helper = await service.addOperator("owner");
    owners.push(helper.id);
    await Promise.all(
      owners.map((id, i) =>
        call(
          i % 2 === 0 ? `/operators/${id}/revoke` : `/operators/${id}`,
          i % 2 === 0 ? {} : { role: "viewer" },
          { method: i % 2 === 0 ? "POST" : "PATCH", key: helper.key },
        ),
      ),
    );
    const rows = await sql("select from operator where role = 'owner' and revoked_at is null");
    expect(rows).toHaveLength(1);
  });
});

test("a revoked operator cannot be changed, rotated or revoked again", async () => {
  const { id } = (await create(MACHINE)).body.data;
  const { body } = await revoke(id);
  expect(body.data).toMatchObject({ id, revoked_at: TIME, keys: [] });
  expect(brief(await update(id, { name: "New" }))).toEqual(REVOKED);
  expect(brief(await rotate(id))).toEqual(REVOKED);
  expect(brief(await revoke(id))).toEqual(REVOKED);
});

test.each([
  ["got", (id: string) => call(`/operators/${id}`)],
  ["updated", (id: string) => call(`/operators/${id}`, { name: "New" }, { method: "PATCH" })],
  ["rotated", (id: string) => call(`/operators/${id}/rotate_key`, {})],
  ["revoked", (id: string) => call(`/operators/${id}/revoke`, {})],
])("an operator that does not exist is not %s", async (_, ask) => {
  for (const id of ["999999999", "0", "-1"]) {
    expect(brief(await ask(id))).toEqual(NOT_FOUND);
  }
});

test("an update changes what is given and leaves the rest", async () => {
  const email = freshEmail();
  const { data } = (await create({ ...MACHINE, email })).body;
  const { body } = await update(data.id, { role: "viewer" });
  expect(body).toEqual({ data: { ...data, role: "viewer" } });
  expect((await update(data.id, {})).body).toEqual(body);
});

test("a rotation ends the other keys at once, or after the overlap, or when they were to end anyway", async () => {
  const first = (await create(MACHINE)).body;
  const { id } = first.data;
  const second = (await rotate(id, { overlap_seconds: 604_800 })).body;
  expect(second.operator_key).toMatch(KEY);
  const [older, newer] = second.data.keys;
  expect(older).toEqual({ ...first.data.keys[0], ends_at: TIME });
  expect(newer).toMatchObject({ last4: second.operator_key.slice(-4), ends_at: null });
  expect((await selfOn(service, first.operator_key)).status).toBe(200);

  const third = (await rotate(id, { overlap_seconds: 3_600 })).body;
  const fourth = (await rotate(id, { overlap_seconds: 604_800 })).body;
  const ends = fourth.data.keys.map(({ ends_at }: { ends_at: string | null }) => ends_at);
  expect(ends.slice(0, 2)).toEqual([third.data.keys[0].ends_at, third.data.keys[1].ends_at]);
  expect(Date.parse(ends[0])).toBeLessThan(Date.parse(older.ends_at));
  expect(ends[3]).toBeNull();

  const last = (await rotate(id)).body;
  expect(last.data.keys).toHaveLength(1);
  expect(last.data.keys[0].last4).toBe(last.operator_key.slice(-4));
});

describe("one key of several", () => {
  const keyCall = (id: number, path: string, key: string, body: object = {}, headers = {}) =>
    call(`/operators/${id}${path}`, body, { key, headers });
  const ids = async (id: number) =>
    (await call(`/operators/${id}`)).body.data.keys.map((key: { id: string }) => key.id);

  test("is created, rotated and revoked by its operator, whatever its role, and the others go on", async () => {
    const { data, operator_key: first } = (await create({ ...MACHINE, role: "viewer" })).body;
    const { id, keys } = data;
    const made = await keyCall(id, "/keys", first, { name: " Laptop " });
    const second = made.body.data.keys[1];
    const used = { ...keys[0], last_used_at: made.body.data.keys[0].last_used_at };
    expect([made.status, made.body]).toEqual([
      201,
      {
        data: { ...data, keys: [used, second] },
        operator_key: expect.stringMatching(KEY),
      },
    ]);
    expect(second).toMatchObject({ name: "Laptop", last4: made.body.operator_key.slice(-4) });

    const rotated = (await keyCall(id, "/rotate_key", first, { key: second.id })).body;
    const third = rotated.data.keys[1];
    expect(third).toMatchObject({ name: "Laptop", last4: rotated.operator_key.slice(-4) });
    expect(await ids(id)).toEqual([keys[0].id, third.id]);

    expect((await keyCall(id, `/keys/${third.id}/revoke`, first)).status).toBe(200);
    expect(await ids(id)).toEqual([keys[0].id]);
    await eventually(
      "the end of the key",
      async () => (await selfOn(other, rotated.operator_key)).status === 401,
    );
    expect((await selfOn(other, first)).status).toBe(200);
  });

  test.each([
    ["alone", (own: string) => ({ key: own })],
    ["with all others", () => ({})],
  ])(
    "that the call comes with, replaced %s, goes on for 10 minutes, in which the lost answer can be had again",
    async (_, fields) => {
      const { data, operator_key: key } = (await create(MACHINE)).body;
      const own = data.keys[0].id;
      const rotateOwn = () =>
        keyCall(data.id, "/rotate_key", key, fields(own), { "idempotency-key": "own" });
      const rotatedAt = Date.now();
      const first = await rotateOwn();
      expect(first.status).toBe(200);
      expect((await rotateOwn()).text).toBe(first.text);
      const [old] = first.body.data.keys;
      expect([old.id, await ids(data.id)]).toEqual([own, [own, first.body.data.keys[1].id]]);
      expect((Date.parse(old.ends_at) - rotatedAt) / 60_000).toBeCloseTo(10, 0);
    },
  );

  test("of another operator is for owners to change", async () => {
    const { data } = (await create(MACHINE)).body;
    const { key } = await service.addOperator("operator");
    const message = "Keys of other operators need the role owner; yours is operator.";
    const at = `/keys/${data.keys[0].id}/revoke`;
    for (const [path, body] of [
      ["/keys", { name: "Mine" }],
      ["/rotate_key", {}],
      [at, {}],
    ] as const) {
      expect(brief(await keyCall(data.id, path, key, body))).toEqual(
        refusal(403, undefined, message),
      );
    }
    expect((await keyCall(data.id, at, owner.key)).status).toBe(200);
    expect(await ids(data.id)).toEqual([]);
  });

  test("is the last one that a machine can end, and has to be the operator's own", async () => {
    const { data, operator_key: key } = (await create(MACHINE)).body;
    const tell = (which: string) =>
      refusal(422, "api_key", `This is the last key of yours that ${which}; create another first.`);
    const revokeOwn = async (own: string) =>
      brief(await keyCall(data.id, `/keys/${own}/revoke`, key));
    expect(await revokeOwn(data.keys[0].id)).toEqual(tell("is not to end"));
    const rotated = (await keyCall(data.id, "/rotate_key", key, { overlap_seconds: 3_600 })).body;
    const newest = rotated.data.keys[1].id;
    expect(await revokeOwn(newest)).toEqual(tell("is not to end"));
    await keyCall(data.id, `/keys/${newest}/revoke`, owner.key);
    expect(await revokeOwn(data.keys[0].id)).toEqual(tell("works"));
    const foreign = (await create(MACHINE)).body.data.keys[0].id;
    const none = refusal(404, undefined, "There is no such key.");
    for (const id of [foreign, `key_${"0".repeat(24)}`]) {
      expect(brief(await keyCall(data.id, `/keys/${id}/revoke`, key))).toEqual(none);
      expect(brief(await keyCall(data.id, "/rotate_key", key, { key: id }))).toEqual(none);
    }
  });

  test("is not created beyond 20 that work", async () => {
    const { data } = (await create(MACHINE)).body;
    const make = () => keyCall(data.id, "/keys", owner.key, { name: "One more" });
    for (let i = 0; i < 19; i++) expect((await make()).status).toBe(201);
    const text = "The operator has 20 keys that work, and no more fit: revoke one first.";
    expect(brief(await make())).toEqual(refusal(422, "api_key", text));
  });
});

test("a rotation of one key among 20 ends it, and no other, which has no end", async () => {
  const { data } = (await create(MACHINE)).body;
  for (let i = 0; i < 19; i++) await call(`/operators/${data.id}/keys`, { name: `Program ${i}` });
  const keys = (await call(`/operators/${data.id}`)).body.data.keys;
  const [replaced] = keys.splice(7, 1);
  const { body } = await rotate(data.id, { key: replaced.id, overlap_seconds: 3_600 });
  expect(body.data.keys.slice(0, -1)).toEqual(keys);
  expect(body.data.keys.at(-1)).toMatchObject({ name: replaced.name, ends_at: null });
});

test("at most 20 keys of an operator work: the oldest end first", async () => {
  const { id } = (await create(MACHINE)).body.data;
  const made: string[] = [];
  for (let i = 0; i < 21; i++) {
    const { body } = await rotate(id, { overlap_seconds: 604_800 });
    made.push(body.data.keys.at(-1).id);
    expect(body.data.keys.length).toBe(Math.min(20, i + 2));
  }
  const { body } = await call(`/operators/${id}`);
  expect(body.data.keys.map((key: { id: string }) => key.id)).toEqual(made.slice(-20));
});

test("a changed role holds at once on the replica that changed it", async () => {
  const { data, operator_key: key } = (await create({ ...MACHINE, role: "owner" })).body;
  const tryToCreate = async () => (await call("/operators", MACHINE, { key })).status;
  for (let round = 0; round < 5; round++) {
    expect(await tryToCreate()).toBe(201);
    await update(data.id, { role: "operator" });
    expect(await tryToCreate()).toBe(403);
    await update(data.id, { role: "owner" });
  }
});

describe("on another replica too, without its asking for keys anew", () => {
  test("a change of role holds", async () => {
    const { data, operator_key: key } = (await create(MACHINE)).body;
    expect((await selfOn(other, key)).status).toBe(200);
    const tryToCreate = () =>
      other.request("/admin/v1/operators", { apiKey: key, body: { ...MACHINE, name: "x" } });
    expect((await tryToCreate()).status).toBe(403);
    await update(data.id, { role: "owner" });
    await eventually("the new role", async () => (await tryToCreate()).status === 201);
  });

  test.each([
    ["a rotated-away key", (id: number) => rotate(id)],
    ["a revoked operator's key", (id: number) => revoke(id)],
  ])("%s stops working", async (_, end) => {
    const { data, operator_key: key } = (await create(MACHINE)).body;
    for (const replica of [service, other]) expect((await selfOn(replica, key)).status).toBe(200);
    await end(data.id);
    for (const replica of [service, other]) {
      await eventually("the end", async () => (await selfOn(replica, key)).status === 401);
    }
  });
});

test("a repeated call with an idempotency key gets the first answer, and makes one operator", async () => {
  const headers = { "idempotency-key": `create-${owner.id}` };
  const first = await call("/operators", MACHINE, { headers });
  const second = await call("/operators", MACHINE, { headers });
  expect([first.status, second.text]).toEqual([201, first.text]);
  expect(second.headers.get("idempotency-replayed")).toBe("true");
  const { body } = await call("/operators");
  expect(body.data).toHaveLength(2);
});

test.each([
  ["name", { name: " " }],
  ["name", { name: "x".repeat(101) }],
  ["kind", { kind: undefined }],
  ["role", { role: undefined }],
  ["email", { email: "no email" }],
  ["role", { role: "king" }],
])("the field %s is refused as in %o", async (field, change) => {
  const { status, body } = await create({ ...MACHINE, ...change });
  expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
});

describe("a link to sign in by", () => {
  const link = (id: number, key = owner.key) => call(`/operators/${id}/sign_in_link`, {}, { key });

  test.each([
    ["revoked", (id: number) => revoke(id)],
    ["given another email", (id: number) => update(id, { email: freshEmail() })],
  ])("ends with its sessions when the operator is %s, for good", async (_, end) => {
    const email = freshEmail();
    const { id } = (await create({ ...PERSON, email })).body.data;
    const session = await signInByPath(service, (await link(id)).body.sign_in_path);
    const elsewhere = await signInByPath(other, (await link(id)).body.sign_in_path);
    const unused = (await link(id)).body.sign_in_path;
    const statusOf = async ({ request }: SignedIn) => (await request("/admin/v1/self")).status;
    expect([await statusOf(session), await statusOf(elsewhere)]).toEqual([200, 200]);

    expect((await end(id)).status).toBe(200);
    expect(await statusOf(session)).toBe(401);
    await eventually("its end elsewhere", async () => (await statusOf(elsewhere)) === 401);

    const { id: again } = (await create({ ...PERSON, email })).body.data;
    expect([await statusOf(session), await statusOf(elsewhere)]).toEqual([401, 401]);
    await expect(signInByPath(service, unused)).rejects.toThrow("This link does not work");
    const anew = await signInByPath(service, (await link(again)).body.sign_in_path);
    expect((await anew.request("/admin/v1/self")).body.data.id).toBe(again);
  });

  test("lets an operator that is a person in, with the operator's role", async () => {
    const email = freshEmail();
    const { id } = (await create({ ...PERSON, email })).body.data;
    const { status, body } = await link(id);
    expect([status, body.data]).toEqual([201, expect.objectContaining({ id, email })]);
    const signedIn = await signInByPath(service, body.sign_in_path);
    const self = await signedIn.request("/admin/v1/self");
    expect(self.body.data).toMatchObject({ id, email, role: "viewer" });
  });

  test("has them act under the name that owners gave, whatever they call themselves", async () => {
    const email = freshEmail();
    const { id } = (await create({ ...PERSON, role: "operator", email })).body.data;
    const signedIn = await signInByPath(service, (await link(id)).body.sign_in_path);
    const body = { name: "Somebody else" };
    const renamed = await signedIn.request("/account/v1/account", { method: "PATCH", body });
    expect([renamed.status, renamed.body.data?.name]).toEqual([200, "Somebody else"]);
    await signedIn.request("/admin/v1/tariff_drafts", { body: { name: "Spring" } });
    const { data } = (await call(`/audit_entries?operator=${id}`)).body;
    expect(data).toMatchObject([
      { action: "CreateTariffDraft", actor: { kind: "operator", name: "Ada", operator: id } },
    ]);
  });

  test("is for owners to make, and for everybody for themselves", async () => {
    const { data, operator_key: key } = (await create({ ...PERSON, email: freshEmail() })).body;
    expect((await link(data.id, key)).status).toBe(201);
    const operator = await service.addOperator("operator");
    const message = "Links for other operators need the role owner; yours is operator.";
    expect(brief(await link(data.id, operator.key))).toEqual(refusal(403, undefined, message));
  });

  test("is refused for machines, the revoked and nobody", async () => {
    const machine = (await create(MACHINE)).body.data;
    const revoked = (await create({ ...PERSON, email: freshEmail() })).body.data;
    await revoke(revoked.id);
    const text = "operator is a machine, which does not sign in.";
    expect(brief(await link(machine.id))).toEqual(refusal(422, "operator", text));
    expect((await link(revoked.id)).body).toEqual((await rotate(revoked.id)).body);
    expect(brief(await link(2 ** 40))).toEqual(brief(await rotate(2 ** 40)));
  });
});
