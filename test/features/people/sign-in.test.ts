import { randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { auditEntriesOf } from "../../support/audit.ts";
import { postForm, signIn, signInByPath, type SignedIn } from "../../support/browser.ts";
import { ANY_TIME, BOOKING, COVERED_ROUTE } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startReplica, startService, type TestService, type TestWorkspace } from "../../support/service.ts";
import { stopClock } from "../../support/stop-clock.ts";

const service = await startService();
const workspace = await service.addWorkspace();
/** The workspace as its members see it. */
const OWN = {
  id: workspace.id,
  name: "Test",
  suspended: false,
  test_workspace: workspace.twin.id,
  time_zone: "UTC",
  late_after_minutes: 240,
};
const { key: owner } = await service.addOperator("owner");
const database = await connectTo(service.databaseUrl);
const admin = await signIn(service, workspace.apiKey, { email: "ada@example.org", role: "admin" });

const inWorkspace = (id = workspace.id) => ({ "x-workspace": String(id) });

/** Invites a person, by default a new one, and returns the response. */
const invite = async (
  email = `new${++people}@example.org`,
  { apiKey }: Pick<TestWorkspace, "apiKey"> = workspace,
  more = {},
) => (await service.as(apiKey).inviteMember({ email, ...more })).body;
let people = 0;

/** Signs in a new person who has the given role. */
const signInNew = (role: "viewer" | "member" | "admin", email = `as${++people}@example.org`) =>
  signIn(service, workspace.apiKey, { email, role });

const tokenOf = ({ sign_in_path: path }: any) => path.split("#token=")[1]!;
const newToken = async () => tokenOf(await invite());
/** Submits the sign-in page with a token. */
const enter = (token: string, headers?: Record<string, string>, at: TestService = service) =>
  postForm(at, "/sign-in", { token }, headers);
const personOf = async (email: string, { apiKey }: Pick<TestWorkspace, "apiKey"> = workspace): Promise<number> =>
  (await data(service.as(apiKey).listMembers())).find((it: any) => it.email === email).person;
const accountOf = ({ request }: Pick<SignedIn, "request">) => request("/account/v1/account");

test("a workspace has up to 200 members, each of whom can be invited again", async () => {
  const { id, apiKey } = await service.addWorkspace();
  await data(service.as(apiKey).inviteMember({ email: "first@example.net" }));
  await database.query(
    `with added as (
       insert into person (email, name, created_at)
       select 'm' || i || '@example.net', 'M', now() from generate_series(2, 200) as i returning id)
     insert into membership (workspace_id, person_id, role, created_at)
     select $1, id, 'viewer', now() from added`,
    [id],
  );
  const inviting = service.as(apiKey).inviteMember({ email: "one-more@example.net" });
  await expectRefused(inviting, "MEMBER_LIMIT");
  await data(service.as(apiKey).inviteMember({ email: "m200@example.net" }));
});

describe("a sign-in link", () => {
  test("starts a session in a cookie that scripts and other sites cannot access", async () => {
    const invited = await invite();
    expect(invited.sign_in_path).toMatch(/^\/sign-in#token=[A-Za-z0-9_-]{43}$/);
    const to = "/w/1/shipments?status=pending";
    const form = { token: tokenOf(invited), return_to: to };
    const { status, headers } = await postForm(service, "/sign-in", form);
    expect([status, headers.get("location"), headers.get("cache-control")]).toEqual([303, to, "no-store"]);
    expect(headers.get("set-cookie")).toMatch(
      /^session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/,
    );
  });

  test("works once", async () => {
    const token = await newToken();
    expect((await enter(token)).status).toBe(303);
    const again = await enter(token);
    expect([again.status, again.headers.get("set-cookie")]).toEqual([403, null]);
  });

  test("works for 15 minutes, and is then indistinguishable from a missing one", async () => {
    const token = await newToken();
    await database.query("update sign_in_link set ends_at = now()");
    const headers = { "sec-fetch-site": "same-origin", "x-request-id": "the-same" };
    const late = await enter(token, headers);
    expect(late.status).toBe(403);
    expect(await late.text()).toBe(await (await enter("A".repeat(43), headers)).text());
  });

  test("is stored only as a hash", async () => {
    const token = await newToken();
    const { rows } = await database.query("select sign_in_link::text as row from sign_in_link");
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ row }) => row).join()).not.toContain(token);
  });

  test.each(["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""])(
    "does not redirect to %j",
    async (returnTo) => {
      const form = { token: await newToken(), return_to: returnTo };
      const entered = await postForm(service, "/sign-in", form);
      expect(entered.headers.get("location")).toBe("/");
    },
  );

  test("is accepted only from a page of this site", async () => {
    const token = await newToken();
    const crossSite = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    expect((await enter(token, crossSite)).status).toBe(403);
    expect((await enter(token)).status).toBe(303);
  });
});

test("a client address can try 20 tokens, even if 100 arrive at once, and a link works again after a wait", async () => {
  stopClock();
  const own = await startReplica(service.databaseUrl);
  const tries = Array.from({ length: 100 }, (_, i) => String(i).padStart(43, "A"));
  const statuses = (await Promise.all(tries.map((token) => enter(token, undefined, own)))).map(({ status }) => status);
  const lookedUp = statuses.filter((status) => status === 403);
  expect([lookedUp.length, new Set(statuses)]).toEqual([20, new Set([403, 429])]);
  const token = await newToken();
  expect((await enter(token, undefined, own)).status).toBe(429);
  // The bucket refills by one call per second.
  vi.advanceTimersByTime(1_000);
  expect((await enter(token, undefined, own)).status).toBe(303);
});

/** Sends calls until one is rate limited. Returns all statuses. */
async function untilRateLimited(send: (i: number) => Promise<number>): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (let i = 0; i < 5_000 && !statuses.has(429); i += 100) {
    const some = await Promise.all(Array.from({ length: 100 }, (_, j) => send(i + j)));
    for (const status of some) statuses.add(status);
  }
  return statuses;
}

test("a session continues while other clients at its address guess tokens, and can be ended", async () => {
  stopClock();
  const own = await startReplica(service.databaseUrl);
  const person = await signInByPath(own, (await invite()).sign_in_path);
  const headers = { "sec-fetch-site": "same-origin", ...inWorkspace() };
  const guess = async (i: number) => {
    const cookie = `session=${String(i).padStart(43, "A")}`;
    return (await own.as(undefined).getWorkspace({}, { ...headers, cookie })).status;
  };
  expect(await untilRateLimited(guess)).toEqual(new Set([401, 429]));
  expect((await person.request("/v1/workspace", { headers })).status).toBe(200);
  for (let i = 0; i < 25; i++) await postForm(own, "/sign-in", { token: `guess ${i}` });
  const form = { cookie: person.cookie, "sec-fetch-site": "same-origin" };
  expect((await postForm(own, "/sign-out", {}, form)).status).toBe(303);
  expect((await person.request("/v1/workspace", { headers })).status).toBe(401);
});

const untilEnded = ({ request }: SignedIn) =>
  eventually("the session to end", async () => (await accountOf({ request })).status === 401);

describe("a session", () => {
  test("ends when any person signs in with the same browser", async () => {
    const email = "before@example.org";
    const before = await signInNew("viewer", email);
    expect((await accountOf(before)).status).toBe(200);
    const form = { cookie: before.cookie, "sec-fetch-site": "same-origin" };
    expect((await enter("no link's", form)).status).toBe(403);
    expect((await accountOf(before)).status).toBe(200);
    expect((await enter(await newToken(), form)).status).toBe(303);
    expect((await accountOf(before)).status).toBe(401);
    const left = "select from session join person on person.id = person_id where email = $1";
    expect((await database.query(left, [email])).rowCount).toBe(0);
  });

  test("reports who the person is and which workspaces are accessible", async () => {
    expect(await data(accountOf(admin))).toEqual({
      id: expect.any(Number),
      email: "ada@example.org",
      name: "ada",
      workspaces: [{ ...OWN, role: "admin" }],
      operator_role: null,
    });
  });

  test("calls the RPCs of the named workspace", async () => {
    const quoted = await admin.request("/v1/shipments/quote", {
      body: COVERED_ROUTE,
      headers: inWorkspace(),
    });
    expect([quoted.status, quoted.body.covered]).toEqual([200, true]);
  });

  test.each([
    ["no workspace", {}, 422],
    ["another workspace", { "x-workspace": "999999" }, 403],
    ["an invalid workspace number", { "x-workspace": "1; drop table session" }, 403],
  ])("is rejected with %s", async (_, headers, status) => {
    expect((await admin.request("/v1/workspace", { headers })).status).toBe(status);
  });

  test.each([
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["another subdomain", { "sec-fetch-site": "same-site" }],
    ["the address bar", { "sec-fetch-site": "none" }],
    ["an old browser on another site", { origin: "https://evil.example", referer: service.httpUrl }],
    ["a link on another site", { referer: "https://evil.example/" }],
    ["the same host over another scheme", { origin: service.httpUrl.replace("http:", "https:") }],
    ["a program", {}],
  ])("is rejected from %s", async (_, extraHeaders: Record<string, string>) => {
    const headers = { cookie: admin.cookie, ...inWorkspace(), ...extraHeaders };
    const text = "Session requests must come from a page on this site.";
    const call = service.as(undefined).getWorkspace({}, headers);
    await expectRefused(call, "CROSS_SITE", text);
  });

  test.each([
    ["origin", service.httpUrl],
    ["referer", `${service.httpUrl}/shipments`],
  ])("is accepted from a page of this site in an old browser, by its %s", async (name, value) => {
    const headers = { cookie: admin.cookie, ...inWorkspace(), [name]: value };
    expect((await service.as(undefined).getWorkspace({}, headers)).status).toBe(200);
  });

  test("gives no access to the platform unless the person is an operator", async () => {
    const { status } = await admin.request("/admin/v1/workspaces");
    expect([403, 404]).toContain(status);
  });

  test("ends when the person signs out", async () => {
    const leaving = await signInNew("viewer");
    const form = { "sec-fetch-site": "same-origin", cookie: leaving.cookie };
    const left = await postForm(service, "/sign-out", {}, form);
    expect([left.status, left.headers.get("location")]).toEqual([303, "/sign-in"]);
    expect(left.headers.get("set-cookie")).toMatch(/^session=; .*Max-Age=0$/);
    await untilEnded(leaving);
  });

  test.each([
    ["12 hours unused", "last_seen_at = now() - interval '12 hours'"],
    ["7 days", "ends_at = now()"],
  ])("ends after %s", async (_, change) => {
    const email = "idle@example.org";
    const idle = await signInNew("viewer", email);
    expect((await accountOf(idle)).status).toBe(200);
    await database.query(`update session set ${change} from person where person.id = person_id and email = $1`, [
      email,
    ]);
    await untilEnded(idle);
  });

  test("is listed and can be ended from another browser", async () => {
    const email = "two@example.org";
    const [first, second] = [await signInNew("viewer", email), await signInNew("viewer", email)];
    const { body } = await second.request("/account/v1/sessions");
    expect(body.data.map((it: { current: boolean }) => it.current).sort()).toEqual([false, true]);
    const other = body.data.find((it: { current: boolean }) => !it.current);
    const end = () => second.request(`/account/v1/sessions/${other.id}`, { method: "DELETE" });
    expect((await end()).status).toBe(200);
    await untilEnded(first);
    expect((await end()).status).toBe(404);
    const foreign = await admin.request(`/account/v1/sessions/${other.id}`, { method: "DELETE" });
    expect(foreign.status).toBe(404);
  });
});

describe("a role", () => {
  const headers = inWorkspace();
  const changeRole = (person: number, role: string) =>
    data(admin.request(`/v1/members/${person}`, { method: "PATCH", headers, body: { role } }));
  const tryToInvite = async ({ request }: SignedIn) =>
    (await request("/v1/members", { headers, body: { email: "new@example.org" } })).status;

  test.each([
    ["viewer", 200, 403, 403],
    ["member", 200, 404, 403],
    ["admin", 200, 404, 201],
  ] as const)("of %s has its read, write and management permissions", async (role, read, write, manage) => {
    const person = await signInNew(role);
    const listed = await person.request("/v1/shipments", { headers });
    const cancelling = { method: "POST", headers };
    const cancelled = await person.request("/v1/shipments/SHP-000000000000/cancel", cancelling);
    const statuses = [listed.status, cancelled.status, await tryToInvite(person)];
    expect(statuses).toEqual([read, write, manage]);
  });

  test("that is removed ends within a second, and the audit log names who removed it", async () => {
    const email = "gone@example.org";
    const gone = await signInNew("member", email);
    const path = `/v1/members/${await personOf(email)}`;
    expect((await admin.request(path, { method: "DELETE", headers })).body).toEqual({});
    await eventually(
      "the membership to end",
      async () => (await gone.request("/v1/workspace", { headers })).status === 401,
    );
    expect((await auditEntriesOf(service, workspace.id)).at(-1)).toMatchObject({
      actor: "person",
      actor_name: "ada@example.org",
      action: "RemoveMember",
      changes: [{ field: "role", before: "member", after: null }],
    });
  });

  test("that changes applies at once on the same replica", async () => {
    const email = "changed@example.org";
    const changed = await signInNew("admin", email);
    const person = await personOf(email);
    for (const [role, status] of [
      ["member", 403],
      ["admin", 201],
      ["viewer", 403],
    ] as const) {
      await changeRole(person, role);
      expect(await tryToInvite(changed)).toBe(status);
    }
  });

  test("of the last admin cannot be removed", async () => {
    const { id, apiKey } = await service.addWorkspace();
    const only = await signIn(service, apiKey, { email: "only@example.org", role: "admin" });
    const path = `/v1/members/${await personOf("only@example.org", { apiKey })}`;
    for (const change of [{ method: "PATCH", body: { role: "member" } }, { method: "DELETE" }]) {
      const call = only.request(path, { ...change, headers: inWorkspace(id) });
      await expectRefused(call, "MEMBER_LAST_ADMIN");
    }
  });
});

describe("a person who has left a workspace and is invited again", () => {
  const add = (to: TestWorkspace, email: string) => invite(email, to, { role: "member" });
  const remove = ({ apiKey }: TestWorkspace, person: number) => service.as(apiKey).removeMember({ person });
  const actsIn = async ({ request }: SignedIn, { id }: TestWorkspace) =>
    (await request("/v1/workspace", { headers: inWorkspace(id) })).status;

  test("cannot use earlier sessions and links, at once on this replica and soon on others", async () => {
    const replica = await startReplica(service.databaseUrl);
    const email = "returns@example.org";
    const { data: member, sign_in_path: first } = await add(workspace, email);
    const session = await signInByPath(service, first);
    const { sign_in_path: second } = await add(workspace, email);
    const elsewhere = await signInByPath(replica, second);
    const { sign_in_path: unused } = await add(workspace, email);
    const known = [await actsIn(session, workspace), await actsIn(elsewhere, workspace)];
    expect(known).toEqual([200, 200]);

    expect((await remove(workspace, member.person)).status).toBe(200);
    expect(await actsIn(session, workspace)).toBe(401);
    await eventually("the session to end elsewhere", async () => (await actsIn(elsewhere, workspace)) === 401);

    const { sign_in_path: anew } = await add(workspace, email);
    expect([await actsIn(session, workspace), await actsIn(elsewhere, workspace)]).toEqual([401, 401]);
    expect((await enter(tokenOf({ sign_in_path: unused }))).status).toBe(403);
    expect(await actsIn(await signInByPath(service, anew), workspace)).toBe(200);
  });

  test("keeps access to other workspaces, and an operator's session opens all of them", async () => {
    const email = "everywhere@example.org";
    const [left, kept] = [await service.addWorkspace(), await service.addWorkspace()];
    const { data: member } = await add(left, email);
    const { sign_in_path: boundLink } = await add(kept, email);
    const { createOperator, createOperatorSignInLink } = service.as(owner);
    const fields = { name: "Everywhere", kind: "person", email, role: "viewer" };
    const { id: operator } = await data(createOperator(fields));
    const link = async () => (await createOperatorSignInLink({ operator })).body.sign_in_path;
    const session = await signInByPath(service, await link());
    const unused = await link();
    expect([await actsIn(session, left), await actsIn(session, kept)]).toEqual([200, 200]);

    await remove(left, member.person);
    await add(left, email);
    for (const each of [session, await signInByPath(service, unused)]) {
      expect([await actsIn(each, left), await actsIn(each, kept)]).toEqual([403, 200]);
      const { workspaces } = await data(accountOf(each));
      expect(workspaces.map((it: { id: number }) => it.id)).toEqual([kept.id]);
      expect((await each.request("/admin/v1/self")).status).toBe(200);
    }
    expect(await actsIn(await signInByPath(service, boundLink), kept)).toBe(200);
    const anew = await signInByPath(service, await link());
    expect([await actsIn(anew, left), await actsIn(anew, kept)]).toEqual([200, 200]);
  });
});

describe("a link created by a workspace's admin for a person", async () => {
  const email = "both@example.org";
  const other = await service.addWorkspace();
  await signIn(service, other.apiKey, { email, role: "admin" });
  await database.query(
    `insert into operator (name, email, kind, role, created_at)
       values ('Both', $1, 'person', 'owner', now())`,
    [email],
  );
  const bound = await signIn(service, workspace.apiKey, { email, role: "viewer" });

  test("opens that workspace, but not the person's other workspaces or the platform", async () => {
    const statusIn = async (id: number) => (await bound.request("/v1/workspace", { headers: inWorkspace(id) })).status;
    expect([await statusIn(workspace.id), await statusIn(other.id)]).toEqual([200, 403]);
    expect((await bound.request("/admin/v1/self")).status).toBe(403);
    expect(await data(accountOf(bound))).toMatchObject({
      email,
      workspaces: [{ id: workspace.id, role: "viewer" }],
      operator_role: null,
    });
  });

  test("neither shows nor ends the person's sessions elsewhere", async () => {
    const { body } = await bound.request("/account/v1/sessions");
    expect(body.data.map((it: { current: boolean }) => it.current)).toEqual([true]);
    const { rows } = await database.query(
      `select session.id from session join person on person.id = person_id
       where email = $1 and workspace_id = $2`,
      [email, other.id],
    );
    const path = `/account/v1/sessions/${rows[0].id}`;
    expect((await bound.request(path, { method: "DELETE" })).status).toBe(404);
  });

  test("ends none of the person's links elsewhere", async () => {
    const { sign_in_path: path } = await invite(email, other);
    for (let i = 0; i < 6; i++) await invite(email);
    await signInByPath(service, path);
  });
});

describe("signing in with a link", () => {
  async function entryOf(link: { readonly sign_in_path: string }) {
    const requestId = `sign-in-${randomUUID()}`;
    const form = { "sec-fetch-site": "same-origin", "x-request-id": requestId };
    expect((await enter(tokenOf(link), form)).status).toBe(303);
    const entries = await data(service.as(owner).listAuditEntries({ action: "SignIn" }));
    return entries.find((it: { request_id: string }) => it.request_id === requestId);
  }

  const expected = (email: string, person: number, workspaceId: number | null, by: string) => ({
    id: expect.any(Number),
    created_at: ANY_TIME,
    actor: { kind: "person", name: email, operator: null, api_key: null },
    action: "SignIn",
    subject: `person/${person}`,
    subject_name: email,
    workspace: workspaceId,
    changes: [{ field: "link_made_by", before: null, after: by }],
    request_id: expect.any(String),
  });
  const inviteByAdmin = async (email: string) =>
    (await admin.request("/v1/members", { headers: inWorkspace(), body: { email } })).body;

  test("created by another member or an API key is audited with its creator", async () => {
    const email = "audited@example.org";
    for (const [invited, by] of [
      [await inviteByAdmin(email), "person ada@example.org"],
      [await invite(email), `api key ${workspace.apiKey.slice(-4)}`],
    ]) {
      const { person } = invited.data;
      expect(await entryOf(invited)).toEqual(expected(email, person, workspace.id, by));
    }
  });

  test("created by an operator is audited, unless for the same person", async () => {
    const { createOperator, createOperatorSignInLink } = service.as(owner);
    const email = "olga@example.org";
    const fields = { name: "Olga", kind: "person", email, role: "owner" };
    const { id: operator } = await data(createOperator(fields));
    const { body: link } = await createOperatorSignInLink({ operator });
    const { rows } = await database.query("select id from person where email = $1", [email]);
    const by = "operator Test owner";
    expect(await entryOf(link)).toEqual(expected(email, Number(rows[0].id), null, by));
    const { body: again } = await createOperatorSignInLink({ operator });
    const olga = await signInByPath(service, again.sign_in_path);
    const path = `/admin/v1/operators/${operator}/sign_in_link`;
    expect(await entryOf((await olga.request(path, { body: {} })).body)).toBeUndefined();
  });

  test("created by the same person is not audited", async () => {
    expect(await entryOf(await inviteByAdmin("ada@example.org"))).toBeUndefined();
  });
});

test("a repeated invitation gives a member a new link and keeps the role", async () => {
  const again = await signInByPath(service, (await invite("ada@example.org")).sign_in_path);
  expect((await data(accountOf(again))).workspaces).toEqual([{ ...OWN, role: "admin" }]);
});

test("a shipment and its events name the member who created and changed it", async () => {
  const email = "booker@example.org";
  const booker = await signInNew("member", email);
  const booking = { headers: inWorkspace(), body: BOOKING };
  const booked = await data(booker.request("/v1/shipments", booking));
  const { cancelShipment, listShipmentEvents } = service.as(workspace.apiKey);
  const cancelled = await data(cancelShipment({ shipment: booked.reference }));
  expect([booked.created_by, cancelled.created_by]).toEqual([email, email]);
  const events = await data(listShipmentEvents({ shipment: booked.reference }));
  expect(events.map(({ type, actor }: any) => [type, actor])).toEqual([
    ["shipment.created", email],
    ["shipment.cancelled", null],
  ]);
});

describe("a session for one workspace", () => {
  const rename = ({ request }: SignedIn, name: string) =>
    request("/account/v1/account", { method: "PATCH", body: { name } });

  test("changes the name of a person who is not known to another workspace", async () => {
    const person = await signInNew("viewer");
    expect((await data(rename(person, "Grace Hopper"))).name).toBe("Grace Hopper");
  });

  test("cannot change the name of a person who is known to another workspace", async () => {
    const other = await service.addWorkspace();
    const email = "shared@example.org";
    await invite(email, other, { name: "Shared" });
    const person = await signInNew("viewer", email);
    expect((await rename(person, "Somebody Else")).status).toBe(403);
    const members = await data(service.as(other.apiKey).listMembers());
    expect(members).toMatchObject([{ name: "Shared" }]);
  });
});

test("limits requests by client address if its sessions lack access", async () => {
  stopClock();
  const own = await startReplica(service.databaseUrl);
  const person = await signInByPath(own, (await invite()).sign_in_path);
  const open = async (i: number) => {
    const headers = inWorkspace(1_000_000 + i);
    return (await person.request("/v1/workspace", { headers })).status;
  };
  expect(await untilRateLimited(open)).toEqual(new Set([403, 429]));
});
