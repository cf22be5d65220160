import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { ANY_TIME } from "../../support/bookings.ts";
import { signInByPath, type SignedIn } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { startReplica, startService, type TestOperator, type TestService } from "../../support/service.ts";

const service = await startService();
const other = await startReplica(service.databaseUrl);

let owner: TestOperator;
let as: ReturnType<TestService["as"]>;
beforeEach(async () => {
  owner = await service.addOperator("owner");
  as = service.as(owner.key);
});
/** Revokes all operators, so that each test has only its own owners. */
afterEach(() => sql("update operator set revoked_at = now() where revoked_at is null"));

const sql = (text: string, values: unknown[] = []) => service.app.em.fork().execute(text, values);

const MACHINE = { name: "Deployer", kind: "machine", role: "operator" };
const PERSON = { name: "Ada", kind: "person", role: "viewer" };
const ANY_KEY = expect.stringMatching(/^sho_[0-9A-Za-z]{36}$/);

let emails = 0;
const freshEmail = () => `ada${++emails}@example.org`;

/** Creates an operator, by default a machine, with a key. */
async function create(fields: object = MACHINE) {
  const { body } = await as.createOperator(fields);
  return { ...body.data, key: body.operator_key as string, keyId: body.data.keys[0].id as string };
}
const createPerson = (more: object = {}) => create({ ...PERSON, email: freshEmail(), ...more });
const keysOf = async (operator: number): Promise<any[]> => (await data(as.getOperator({ operator }))).keys;
const idsOf = (rows: { id: unknown }[]) => rows.map(({ id }) => id);

/** Adds keys without an expiry to an operator. */
const addKeys = (operator: number, count: number) =>
  sql(
    `insert into operator_key (hash, id, operator_id, name, last4, created_at, changed_at)
     select rpad(md5(random()::text), 43, 'x'), 'key_' || left(md5(random()::text), 24), ?,
       'Program ' || i, 'abcd', now(), now()
     from generate_series(1, ?::int) i`,
    [operator, count],
  );
const untilRefused = (on: TestService, key: string) =>
  eventually("the end of the key", async () => (await on.as(key).getSelf()).status === 401);

test("an operator is created with an active key, which later responses omit", async () => {
  const email = freshEmail();
  const { status, body } = await as.createOperator({ ...PERSON, name: " Ada ", email });
  const key = {
    id: expect.stringMatching(/^key_[0-9a-f]{24}$/),
    name: null,
    last4: body.operator_key.slice(-4),
    created_at: ANY_TIME,
    last_used_at: null,
    ends_at: null,
  };
  expect([status, body]).toEqual([
    201,
    {
      data: {
        ...PERSON,
        id: expect.any(Number),
        email,
        created_at: ANY_TIME,
        revoked_at: null,
        keys: [key],
      },
      operator_key: ANY_KEY,
    },
  ]);
  // The use of the key has not been recorded yet.
  expect(await data(as.getOperator({ operator: body.data.id }))).toEqual(body.data);
  expect(await data(service.as(body.operator_key).getSelf())).toEqual(body.data);
  const [row] = await sql("select hash from operator_key where operator_id = ?", [body.data.id]);
  expect(row!.hash).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test("lists operators oldest first, page by page, and revoked ones only on request", async () => {
  const ids = [owner.id];
  for (let i = 0; i < 4; i++) ids.push((await create()).id);
  await as.revokeOperator({ operator: ids[2] });
  const pages = async (include_revoked?: boolean) => {
    const listed: unknown[] = [];
    let page_token = "";
    do {
      const { body } = await as.listOperators({ page_size: 2, include_revoked, page_token });
      listed.push(...idsOf(body.data));
      page_token = body.next_page_token;
    } while (page_token !== "");
    return listed;
  };
  expect(await pages()).toEqual(ids.filter((id) => id !== ids[2]));
  const all = (await pages(true)) as number[];
  expect(all.slice(-ids.length)).toEqual(ids);
  expect(all).toEqual(all.toSorted((a, b) => a - b));
  const { next_page_token: page_token } = (await as.listOperators({ page_size: 1 })).body;
  const otherFilter = as.listOperators({ include_revoked: true, page_token });
  await expectRefused(otherFilter, "FIELD_INVALID", {
    page_token: "page_token is not the next_page_token of a page with these filters.",
  });
});

describe("an email", () => {
  test.each([undefined, "", "  "])("is required for a person, and %j is rejected", async (email) => {
    const text = "email is required for a person.";
    await expectRefused(as.createOperator({ ...PERSON, email }), "FIELD_INVALID", { email: text });
  });

  test("is unique among active operators, ignoring case, and its case can be changed", async () => {
    const { id: operator, email } = await createPerson();
    const another = await createPerson();
    const upperCase = email.toUpperCase();
    await expectRefused(as.createOperator({ ...MACHINE, email: upperCase }), "OPERATOR_EMAIL_TAKEN");
    const taking = as.updateOperator({ operator: another.id, email: upperCase });
    await expectRefused(taking, "OPERATOR_EMAIL_TAKEN");
    expect((await data(as.updateOperator({ operator, email: upperCase }))).email).toBe(upperCase);
    await as.revokeOperator({ operator });
    expect(await createPerson({ email })).toMatchObject({ email });
  });

  test("is given to only one of several operators created with it at the same time", async () => {
    const fields = { ...PERSON, email: freshEmail() };
    const taking = Array.from({ length: 8 }, () => as.createOperator(fields));
    const refused = (await Promise.all(taking)).filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(7);
    for (const answer of refused) await expectRefused(answer, "OPERATOR_EMAIL_TAKEN");
  });
});

describe("the last owner", () => {
  const OWNER = { ...MACHINE, role: "owner" };

  test("cannot be revoked or demoted until there is another active owner", async () => {
    const operator = owner.id;
    const another = await create(OWNER);
    await data(as.revokeOperator({ operator: another.id }));
    await expectRefused(as.revokeOperator({ operator }), "OPERATOR_LAST_OWNER");
    for (const role of ["viewer", "operator"]) {
      await expectRefused(as.updateOperator({ operator, role }), "OPERATOR_LAST_OWNER");
    }
    const renamed = await data(as.updateOperator({ operator, role: "owner", name: "Still here" }));
    expect(renamed).toMatchObject({ role: "owner", name: "Still here" });
    await create(OWNER);
    await data(as.revokeOperator({ operator }));
  });

  test("remains when all owners are revoked or demoted at the same time", async () => {
    const helper = await service.addOperator("owner");
    const owners = [owner.id, helper.id];
    for (let i = 0; i < 3; i++) owners.push((await create(OWNER)).id);
    const { revokeOperator, updateOperator } = service.as(helper.key);
    await Promise.all(
      owners.map((operator, i) =>
        i % 2 === 0 ? revokeOperator({ operator }) : updateOperator({ operator, role: "viewer" }),
      ),
    );
    const rows = await sql("select from operator where role = 'owner' and revoked_at is null");
    expect(rows).toHaveLength(1);
  });
});

test("a revoked operator has no keys and cannot be updated, get a new key, sign in or be revoked again", async () => {
  const { id: operator } = await createPerson();
  const revoked = await data(as.revokeOperator({ operator }));
  expect(revoked).toMatchObject({ id: operator, revoked_at: ANY_TIME, keys: [] });
  for (const call of [
    as.updateOperator({ operator, name: "New" }),
    as.rotateOperatorKey({ operator }),
    as.createOperatorSignInLink({ operator }),
    as.revokeOperator({ operator }),
  ]) {
    await expectRefused(call, "OPERATOR_REVOKED");
  }
});

test.each(["999999999", "0", "-1", 2 ** 40])("operator %s is not found", async (operator) => {
  for (const call of [
    as.getOperator({ operator }),
    as.updateOperator({ operator, name: "New" }),
    as.rotateOperatorKey({ operator }),
    as.createOperatorSignInLink({ operator }),
    as.revokeOperator({ operator }),
  ]) {
    await expectRefused(call, "OPERATOR_NOT_FOUND");
  }
});

test("an update changes the given fields and leaves the rest", async () => {
  const { key: _, keyId: __, ...before } = await create({ ...MACHINE, email: freshEmail() });
  const changed = { ...before, role: "viewer" };
  expect(await data(as.updateOperator({ operator: before.id, role: "viewer" }))).toEqual(changed);
  expect(await data(as.updateOperator({ operator: before.id }))).toEqual(changed);
});

test("a rotation ends the other keys at once, after the overlap, or at their earlier expiry", async () => {
  const { id: operator, key, keys } = await create();
  const rotate = async (overlap_seconds?: number) => (await as.rotateOperatorKey({ operator, overlap_seconds })).body;
  const second = await rotate(604_800);
  expect(second.operator_key).toEqual(ANY_KEY);
  const [older, newer] = second.data.keys;
  expect(older).toEqual({ ...keys[0], ends_at: ANY_TIME });
  expect(newer).toMatchObject({ last4: second.operator_key.slice(-4), ends_at: null });
  expect((await service.as(key).getSelf()).status).toBe(200);

  const third = await rotate(3_600);
  const ends = (await rotate(604_800)).data.keys.map(({ ends_at }: any) => ends_at);
  expect(ends.slice(0, 2)).toEqual([third.data.keys[0].ends_at, third.data.keys[1].ends_at]);
  expect(Date.parse(ends[0])).toBeLessThan(Date.parse(older.ends_at));
  expect(ends[3]).toBeNull();

  const last = await rotate();
  expect(last.data.keys.map((it: any) => it.last4)).toEqual([last.operator_key.slice(-4)]);
});

describe("one key of several", () => {
  test("can be created, rotated and revoked by its operator in any role, and the other keys stay active", async () => {
    const { id: operator, keyId, key } = await create({ ...MACHINE, role: "viewer" });
    const self = service.as(key);
    const made = (await self.createOperatorKey({ operator, name: " Laptop " })).body;
    expect(made.operator_key).toEqual(ANY_KEY);
    const second = made.data.keys[1];
    expect(second).toMatchObject({ name: "Laptop", last4: made.operator_key.slice(-4) });

    const rotated = (await self.rotateOperatorKey({ operator, key: second.id })).body;
    const third = rotated.data.keys[1];
    expect(third).toMatchObject({ name: "Laptop", last4: rotated.operator_key.slice(-4) });
    expect(idsOf(await keysOf(operator))).toEqual([keyId, third.id]);

    await data(self.revokeOperatorKey({ operator, key: third.id }));
    expect(idsOf(await keysOf(operator))).toEqual([keyId]);
    await untilRefused(other, rotated.operator_key);
    expect((await other.as(key).getSelf()).status).toBe(200);
  });

  test.each(["alone", "with all others"])(
    "stays active for 10 minutes after rotating itself %s, so that a lost response can be read again",
    async (which) => {
      const { id: operator, keyId, key } = await create();
      const fields = { operator, ...(which === "alone" ? { key: keyId } : {}) };
      const rotate = () => service.as(key).rotateOperatorKey(fields, { "idempotency-key": "own" });
      const first = await rotate();
      expect((await rotate()).text).toBe(first.text);
      const [old, made] = first.body.data.keys;
      expect([old.id, idsOf(await keysOf(operator))]).toEqual([keyId, [keyId, made.id]]);
      expect((Date.parse(old.ends_at) - Date.parse(made.created_at)) / 60_000).toBeCloseTo(10, 0);
    },
  );

  test("can be changed for another operator only by owners", async () => {
    const { id: operator, keyId: key } = await create();
    const stranger = service.as((await service.addOperator("operator")).key);
    for (const call of [
      stranger.createOperatorKey({ operator, name: "Mine" }),
      stranger.rotateOperatorKey({ operator }),
      stranger.revokeOperatorKey({ operator, key }),
    ]) {
      const text = "Only owners can manage keys of other operators. Your role is operator.";
      await expectRefused(call, "ROLE_INSUFFICIENT", text);
    }
    await data(as.revokeOperatorKey({ operator, key }));
    expect(await keysOf(operator)).toEqual([]);
  });

  test("cannot be revoked by a machine if it is its last, or accessed if it belongs to another operator", async () => {
    const { id: operator, keyId, key } = await create();
    const self = service.as(key);
    const revoke = (id: string) => self.revokeOperatorKey({ operator, key: id });
    const last = (which: string) => ({
      api_key: `This is the last ${which} of yours. Create another one first.`,
    });
    await expectRefused(revoke(keyId), "API_KEY_LAST", last("key without expiry"));
    const rotated = await data(self.rotateOperatorKey({ operator, overlap_seconds: 3_600 }));
    const newest = rotated.keys[1].id;
    await expectRefused(revoke(newest), "API_KEY_LAST", last("key without expiry"));
    await as.revokeOperatorKey({ operator, key: newest });
    await expectRefused(revoke(keyId), "API_KEY_LAST", last("active key"));
    for (const id of [(await create()).keyId, `key_${"0".repeat(24)}`]) {
      await expectRefused(revoke(id), "API_KEY_NOT_FOUND");
      await expectRefused(self.rotateOperatorKey({ operator, key: id }), "API_KEY_NOT_FOUND");
    }
  });

  test("can be rotated when the operator has 20 keys, but no key can be added, and rotating all keys ends the oldest", async () => {
    const { id: operator } = await create();
    await addKeys(operator, 19);
    const text = "The operator has 20 active keys, the maximum. Revoke one first.";
    const adding = as.createOperatorKey({ operator, name: "One more" });
    await expectRefused(adding, "API_KEY_LIMIT", { api_key: text });
    const keys = await keysOf(operator);
    const [replaced] = keys.splice(7, 1);
    const overlap = { operator, overlap_seconds: 3_600 };
    const alone = await data(as.rotateOperatorKey({ ...overlap, key: replaced.id }));
    expect(alone.keys.slice(0, -1)).toEqual(keys);
    expect(alone.keys.at(-1)).toMatchObject({ name: replaced.name, ends_at: null });
    const all = await data(as.rotateOperatorKey(overlap));
    expect(all.keys).toHaveLength(20);
    const later = await data(as.rotateOperatorKey({ ...overlap, overlap_seconds: 604_800 }));
    expect(later.keys).toHaveLength(20);
    expect(idsOf(later.keys)).toContain(all.keys.at(-1).id);
  });
});

test("a changed role applies at once on the replica that changed it, and soon on the other", async () => {
  const { id: operator, key } = await create({ ...MACHINE, role: "owner" });
  const tryOn = async (on: TestService) => (await on.as(key).createOperator(MACHINE)).status;
  for (let round = 0; round < 3; round++) {
    expect(await tryOn(service)).toBe(201);
    await as.updateOperator({ operator, role: "operator" });
    expect(await tryOn(service)).toBe(403);
    await eventually("the lesser role", async () => (await tryOn(other)) === 403);
    await as.updateOperator({ operator, role: "owner" });
  }
  await eventually("the new role", async () => (await tryOn(other)) === 201);
});

test.each(["rotateOperatorKey", "revokeOperator"] as const)(
  "the key from before %s soon stops working on every replica",
  async (end) => {
    const { id: operator, key } = await create();
    for (const on of [service, other]) expect((await on.as(key).getSelf()).status).toBe(200);
    await as[end]({ operator });
    for (const on of [service, other]) await untilRefused(on, key);
  },
);

test.each([
  ["name", { name: " " }],
  ["name", { name: "x".repeat(101) }],
  ["kind", { kind: undefined }],
  ["role", { role: undefined }],
  ["email", { email: "no email" }],
  ["role", { role: "king" }],
])("rejects field %s in %o", async (field, change) => {
  const { body } = await as.createOperator({ ...MACHINE, ...change });
  expect(Object.keys(body.errors)).toEqual([field]);
});

describe("a sign-in link", () => {
  const linkFor = async (operator: number): Promise<string> =>
    (await as.createOperatorSignInLink({ operator })).body.sign_in_path;
  const self = ({ request }: SignedIn) => request("/admin/v1/self");

  test.each([
    ["revoked", (operator: number) => as.revokeOperator({ operator })],
    ["given another email", (operator: number) => as.updateOperator({ operator, email: freshEmail() })],
  ])("stays invalid with its sessions after the operator is %s", async (_, end) => {
    const { id, email } = await createPerson();
    const session = await signInByPath(service, await linkFor(id));
    const elsewhere = await signInByPath(other, await linkFor(id));
    const unused = await linkFor(id);
    const statuses = async () => [(await self(session)).status, (await self(elsewhere)).status];
    expect(await statuses()).toEqual([200, 200]);

    await data(end(id));
    expect((await self(session)).status).toBe(401);
    await eventually("the session to end elsewhere", async () => (await self(elsewhere)).status === 401);

    const { id: again } = await createPerson({ email });
    expect(await statuses()).toEqual([401, 401]);
    await expect(signInByPath(service, unused)).rejects.toThrow("This link is not valid");
    const newSession = await signInByPath(service, await linkFor(again));
    expect((await self(newSession)).body.data.id).toBe(again);
  });

  test("lets a person act in the operator's role, audited under the operator's name", async () => {
    const { id, email } = await createPerson({ role: "operator" });
    const { body } = await as.createOperatorSignInLink({ operator: id });
    expect(body.data).toMatchObject({ id, email });
    const signedIn = await signInByPath(service, body.sign_in_path);
    expect((await self(signedIn)).body.data).toMatchObject({ id, email, role: "operator" });
    const name = { method: "PATCH", body: { name: "Somebody else" } };
    const renamed = await signedIn.request("/account/v1/account", name);
    expect(renamed.body.data.name).toBe("Somebody else");
    await signedIn.request("/admin/v1/tariff_drafts", { body: { name: "Spring" } });
    expect(await data(as.listAuditEntries({ operator: id }))).toMatchObject([
      {
        action: "CreateTariffDraft",
        actor: { kind: "operator", name: "Ada", operator: id, api_key: null },
      },
    ]);
  });

  test("can be created by owners for others and by operators for themselves, but not for machines", async () => {
    const { id: operator, key } = await createPerson();
    expect((await service.as(key).createOperatorSignInLink({ operator })).status).toBe(201);
    const { key: stranger } = await service.addOperator("operator");
    const making = service.as(stranger).createOperatorSignInLink({ operator });
    const text = "Only owners can create sign-in links for other operators. Your role is operator.";
    await expectRefused(making, "ROLE_INSUFFICIENT", text);
    const machine = as.createOperatorSignInLink({ operator: (await create()).id });
    await expectRefused(machine, "FIELD_INVALID", {
      operator: "operator is a machine and cannot sign in.",
    });
  });
});
