import { randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { postForm, signIn, signInByPath, type SignedIn } from "../../support/browser.ts";
import { BOOKING, COVERED_ROUTE } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startReplica, startService, type TestWorkspace } from "../../support/service.ts";
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
};
const database = await connectTo(service.databaseUrl);
const admin = await signIn(service, workspace.apiKey, { email: "ada@example.org", role: "admin" });

const inWorkspace = (id = workspace.id) => ({ "x-workspace": String(id) });

async function inviteLink(email: string): Promise<string> {
  const { body } = await service.request("/v1/members", {
    apiKey: workspace.apiKey,
    body: { email },
  });
  return body.sign_in_path;
}

const tokenOf = (path: string) => path.split("#token=")[1]!;

describe("a sign-in link", () => {
  test("begins a session in a cookie that scripts and other sites cannot use", async () => {
    const path = await inviteLink("grace@example.org");
    expect(path).toMatch(/^\/sign-in#token=[A-Za-z0-9_-]{43}$/);
    const entered = await postForm(service, "/sign-in", {
      token: tokenOf(path),
      return_to: "/w/1/shipments?status=pending",
    });
    expect(entered.status).toBe(303);
    expect(entered.headers.get("location")).toBe("/w/1/shipments?status=pending");
    expect(entered.headers.get("cache-control")).toBe("no-store");
    expect(entered.headers.get("set-cookie")).toMatch(
      /^session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/,
    );
  });

  test("works once", async () => {
    const token = tokenOf(await inviteLink("once@example.org"));
    expect((await postForm(service, "/sign-in", { token })).status).toBe(303);
    const again = await postForm(service, "/sign-in", { token });
    expect([again.status, again.headers.get("set-cookie")]).toEqual([403, null]);
  });

  test("works for 15 minutes", async () => {
    const token = tokenOf(await inviteLink("late@example.org"));
    await database.query("update sign_in_link set ends_at = now()");
    const headers = { "sec-fetch-site": "same-origin", "x-request-id": "the-same" };
    const late = await postForm(service, "/sign-in", { token }, headers);
    const unknown = await postForm(service, "/sign-in", { token: "A".repeat(43) }, headers);
    expect(late.status).toBe(403);
    expect(await late.text()).toBe(await unknown.text());
  });

  test("is stored as its hash alone", async () => {
    const token = tokenOf(await inviteLink("hash@example.org"));
    const { rows } = await database.query("select sign_in_link::text as row from sign_in_link");
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ row }) => row).join()).not.toContain(token);
  });

  test.each([
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "javascript:alert(1)",
    "",
  ])("does not lead to %j", async (returnTo) => {
    const token = tokenOf(await inviteLink("lead@example.org"));
    const entered = await postForm(service, "/sign-in", { token, return_to: returnTo });
    expect(entered.headers.get("location")).toBe("/");
  });

  test("is taken from a page of this site alone", async () => {
    const token = tokenOf(await inviteLink("cross@example.org"));
    const crossSite = await postForm(
      service,
      "/sign-in",
      { token },
      { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
    );
    expect(crossSite.status).toBe(403);
    expect((await postForm(service, "/sign-in", { token })).status).toBe(303);
  });
});

test("an address that tries many tokens has to wait, and a link works again after that", async () => {
  stopClock();
  const own = await startService();
  const statuses: number[] = [];
  for (let i = 0; i < 25; i++) {
    const token = String(i).padStart(43, "A");
    statuses.push((await postForm(own, "/sign-in", { token })).status);
  }
  expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 403));
  expect(statuses).toContain(429);
});

test("no more tokens are looked up than may fail, also when 400 come at once", async () => {
  stopClock();
  const own = await startService();
  const { apiKey } = await own.addWorkspace();
  const statuses = await Promise.all(
    Array.from({ length: 400 }, async (_, i) => {
      const token = String(i).padStart(43, "A");
      return (await postForm(own, "/sign-in", { token })).status;
    }),
  );
  const lookedUp = statuses.filter((status) => status === 403).length;
  expect(new Set(statuses)).toEqual(new Set([403, 429]));
  expect(lookedUp).toBe(20);
  const { body } = await own.request("/v1/members", {
    apiKey,
    body: { email: "late@example.org" },
  });
  const token = tokenOf(body.sign_in_path);
  expect((await postForm(own, "/sign-in", { token })).status).toBe(429);
  // There is one more each second.
  vi.advanceTimersByTime(1_000);
  expect((await postForm(own, "/sign-in", { token })).status).toBe(303);
});

/** Sends calls, many at a time, until one has to wait; gives every status that there was. */
async function untilToldToWait(send: (i: number) => Promise<number>): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (let i = 0; i < 5_000 && !statuses.has(429); i += 100) {
    const some = await Promise.all(Array.from({ length: 100 }, (_, j) => send(i + j)));
    for (const status of some) statuses.add(status);
  }
  return statuses;
}

test("a session goes on while others at its address guess, and can be ended", async () => {
  stopClock();
  const own = await startService();
  const { apiKey, id } = await own.addWorkspace();
  const person = await signIn(own, apiKey, { email: "calm@example.org", role: "viewer" });
  const headers = { "sec-fetch-site": "same-origin", ...inWorkspace(id) };
  const guess = async (i: number) => {
    const cookie = `session=${String(i).padStart(43, "A")}`;
    return (await own.request("/v1/workspace", { headers: { ...headers, cookie } })).status;
  };
  expect(await untilToldToWait(guess)).toEqual(new Set([401, 429]));
  expect((await person.request("/v1/workspace", { headers })).status).toBe(200);
  for (let i = 0; i < 25; i++) await postForm(own, "/sign-in", { token: `guess ${i}` });
  const form = { cookie: person.cookie, "sec-fetch-site": "same-origin" };
  expect((await postForm(own, "/sign-out", {}, form)).status).toBe(303);
  expect((await person.request("/v1/workspace", { headers })).status).toBe(401);
});

const untilEnded = ({ request }: SignedIn) =>
  eventually("the session to end", async () => {
    return (await request("/account/v1/account")).status === 401;
  });

describe("a session", () => {
  test("ends when its browser signs in again, as whoever", async () => {
    const before = await signIn(service, workspace.apiKey, {
      email: "before@example.org",
      role: "viewer",
    });
    expect((await before.request("/account/v1/account")).status).toBe(200);
    const form = { cookie: before.cookie, "sec-fetch-site": "same-origin" };
    const bad = await postForm(service, "/sign-in", { token: "no link's" }, form);
    const kept = await before.request("/account/v1/account");
    expect([bad.status, kept.status]).toEqual([403, 200]);
    const token = tokenOf(await inviteLink("after@example.org"));
    expect((await postForm(service, "/sign-in", { token }, form)).status).toBe(303);
    expect((await before.request("/account/v1/account")).status).toBe(401);
    const { rows } = await database.query(
      `select 1 from session join person on person.id = person_id
       where email = 'before@example.org'`,
    );
    expect(rows).toEqual([]);
  });

  test("tells its person who they are and where they may act", async () => {
    const { status, body } = await admin.request("/account/v1/account");
    expect(status).toBe(200);
    expect(body).toEqual({
      data: {
        id: expect.any(Number),
        email: "ada@example.org",
        name: "ada",
        workspaces: [{ ...OWN, role: "admin" }],
        operator_role: null,
      },
    });
  });

  test("calls the RPCs of the workspace that is named", async () => {
    const quoted = await admin.request("/v1/shipments/quote", {
      body: COVERED_ROUTE,
      headers: inWorkspace(),
    });
    expect([quoted.status, quoted.body.covered]).toEqual([200, true]);
  });

  test.each([
    ["no workspace", {}, 422],
    ["another workspace", { "x-workspace": "999999" }, 403],
    ["no number", { "x-workspace": "1; drop table session" }, 403],
  ])("is refused in %s", async (_, headers, status) => {
    expect((await admin.request("/v1/workspace", { headers })).status).toBe(status);
  });

  test.each([
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["another subdomain", { "sec-fetch-site": "same-site" }],
    ["the address bar", { "sec-fetch-site": "none" }],
    [
      "an old browser on another site",
      { "sec-fetch-site": undefined, origin: "https://evil.example" },
    ],
    ["a program", { "sec-fetch-site": undefined }],
  ])("does not count from %s", async (_, given) => {
    const headers = Object.fromEntries(
      Object.entries({ cookie: admin.cookie, ...inWorkspace(), ...given }).filter(
        ([, value]) => value !== undefined,
      ),
    ) as Record<string, string>;
    const { status, body } = await service.request("/v1/workspace", { headers });
    expect(status).toBe(403);
    expect(body).toEqual({
      message: "Calls with a session are taken from pages of this site alone.",
      errors: {},
    });
  });

  test("does not count from the same host over another scheme", async () => {
    const origin = service.httpUrl.replace("http:", "https:");
    const headers = { cookie: admin.cookie, ...inWorkspace(), origin };
    expect((await service.request("/v1/workspace", { headers })).status).toBe(403);
  });

  test("counts from an old browser's page of this site", async () => {
    const headers = { cookie: admin.cookie, ...inWorkspace(), origin: service.httpUrl };
    expect((await service.request("/v1/workspace", { headers })).status).toBe(200);
  });

  test("opens nothing of the platform to somebody who is no operator", async () => {
    const { status } = await admin.request("/admin/v1/workspaces");
    expect([403, 404]).toContain(status);
  });

  test("ends when its person signs out", async () => {
    const leaving = await signIn(service, workspace.apiKey, {
      email: "leave@example.org",
      role: "viewer",
    });
    const left = await postForm(
      service,
      "/sign-out",
      {},
      { "sec-fetch-site": "same-origin", cookie: leaving.cookie },
    );
    expect([left.status, left.headers.get("location")]).toEqual([303, "/sign-in"]);
    expect(left.headers.get("set-cookie")).toMatch(/^session=; .*Max-Age=0$/);
    await untilEnded(leaving);
  });

  test.each([
    ["12 hours unused", "last_seen_at = now() - interval '12 hours'"],
    ["7 days", "ends_at = now()"],
  ])("ends after %s", async (_, change) => {
    const email = "idle@example.org";
    const idle = await signIn(service, workspace.apiKey, { email, role: "viewer" });
    expect((await idle.request("/account/v1/account")).status).toBe(200);
    await database.query(
      `update session set ${change} from person where person.id = person_id and email = $1`,
      [email],
    );
    await untilEnded(idle);
  });

  test("is listed, and can be ended from another browser", async () => {
    const email = "two@example.org";
    const first = await signIn(service, workspace.apiKey, { email, role: "viewer" });
    const second = await signIn(service, workspace.apiKey, { email, role: "viewer" });
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
  test.each([
    ["viewer", 200, 403, 403],
    ["member", 200, 404, 403],
    ["admin", 200, 404, 201],
  ] as const)("of %s reads, writes and manages as it may", async (role, read, write, manage) => {
    const person = await signIn(service, workspace.apiKey, { email: `${role}@example.org`, role });
    const headers = inWorkspace();
    const listed = await person.request("/v1/shipments", { headers });
    const cancelled = await person.request("/v1/shipments/SHP-000000000000/cancel", {
      method: "POST",
      headers,
    });
    const invited = await person.request("/v1/members", {
      headers,
      body: { email: "new@example.org" },
    });
    expect([listed.status, cancelled.status, invited.status]).toEqual([read, write, manage]);
  });

  test("that is taken away counts within a second", async () => {
    const email = "gone@example.org";
    const gone = await signIn(service, workspace.apiKey, { email, role: "member" });
    const headers = inWorkspace();
    const { body } = await service.request("/v1/members", { apiKey: workspace.apiKey });
    const { person } = body.data.find((it: { email: string }) => it.email === email);
    const removed = await admin.request(`/v1/members/${person}`, { method: "DELETE", headers });
    expect([removed.status, removed.body]).toEqual([200, {}]);
    await eventually(
      "the membership to end",
      async () => (await gone.request("/v1/workspace", { headers })).status === 401,
    );
  });

  test("that changes holds at once where it was changed", async () => {
    const email = "changed@example.org";
    const changed = await signIn(service, workspace.apiKey, { email, role: "admin" });
    const headers = inWorkspace();
    const { body } = await changed.request("/v1/members", { headers });
    const { person } = body.data.find((it: { email: string }) => it.email === email);
    const invite = async () =>
      (await changed.request("/v1/members", { headers, body: { email: "new@example.org" } }))
        .status;
    for (const [role, status] of [
      ["member", 403],
      ["admin", 201],
      ["viewer", 403],
    ] as const) {
      const path = `/v1/members/${person}`;
      expect((await admin.request(path, { method: "PATCH", headers, body: { role } })).status).toBe(
        200,
      );
      expect(await invite()).toBe(status);
    }
  });

  test("of the last admin stays", async () => {
    const own = await service.addWorkspace();
    const only = await signIn(service, own.apiKey, { email: "only@example.org", role: "admin" });
    const { body } = await service.request("/v1/members", { apiKey: own.apiKey });
    const [{ person }] = body.data;
    const path = `/v1/members/${person}`;
    const headers = inWorkspace(own.id);
    const lesser = await only.request(path, { method: "PATCH", headers, body: { role: "member" } });
    const removed = await only.request(path, { method: "DELETE", headers });
    for (const { status, body: refused } of [lesser, removed]) {
      expect(status).toBe(422);
      expect(Object.keys(refused.errors)).toEqual(["person"]);
    }
  });
});

describe("somebody who has left a workspace and is invited again", () => {
  const invite = async ({ apiKey }: TestWorkspace, email: string) =>
    (await service.request("/v1/members", { apiKey, body: { email, role: "member" } })).body;
  const remove = ({ apiKey }: TestWorkspace, person: number) =>
    service.request(`/v1/members/${person}`, { apiKey, method: "DELETE" });
  const actsIn = async ({ request }: SignedIn, { id }: TestWorkspace) =>
    (await request("/v1/workspace", { headers: inWorkspace(id) })).status;

  test("cannot use the sessions and links from before, at once here and soon elsewhere", async () => {
    const replica = await startReplica(service.databaseUrl);
    const email = "returns@example.org";
    const { data, sign_in_path: first } = await invite(workspace, email);
    const session = await signInByPath(service, first);
    const { sign_in_path: second } = await invite(workspace, email);
    const elsewhere = await signInByPath(replica, second);
    const { sign_in_path: unused } = await invite(workspace, email);
    const known = [await actsIn(session, workspace), await actsIn(elsewhere, workspace)];
    expect(known).toEqual([200, 200]);

    expect((await remove(workspace, data.person)).status).toBe(200);
    expect(await actsIn(session, workspace)).toBe(401);
    await eventually(
      "the session to end elsewhere",
      async () => (await actsIn(elsewhere, workspace)) === 401,
    );

    const { sign_in_path: anew } = await invite(workspace, email);
    expect([await actsIn(session, workspace), await actsIn(elsewhere, workspace)]).toEqual([
      401, 401,
    ]);
    const token = tokenOf(unused);
    expect((await postForm(service, "/sign-in", { token })).status).toBe(403);
    expect(await actsIn(await signInByPath(service, anew), workspace)).toBe(200);
  });

  test("keeps what they have elsewhere, where an operator's session opens all of it", async () => {
    const email = "everywhere@example.org";
    const [left, kept] = [await service.addWorkspace(), await service.addWorkspace()];
    const { data } = await invite(left, email);
    const { sign_in_path: boundLink } = await invite(kept, email);
    const { key } = await service.addOperator("owner");
    const admin = (path: string, body: object) =>
      service.request(`/admin/v1/operators${path}`, { apiKey: key, body });
    const operator = { name: "Everywhere", kind: "person", email, role: "viewer" };
    const { id } = (await admin("", operator)).body.data;
    const link = async () => (await admin(`/${id}/sign_in_link`, {})).body.sign_in_path;
    const session = await signInByPath(service, await link());
    const unused = await link();
    expect([await actsIn(session, left), await actsIn(session, kept)]).toEqual([200, 200]);

    await remove(left, data.person);
    await invite(left, email);
    for (const each of [session, await signInByPath(service, unused)]) {
      expect([await actsIn(each, left), await actsIn(each, kept)]).toEqual([403, 200]);
      const { body } = await each.request("/account/v1/account");
      expect(body.data.workspaces.map((it: { id: number }) => it.id)).toEqual([kept.id]);
      expect((await each.request("/admin/v1/self")).status).toBe(200);
    }
    expect(await actsIn(await signInByPath(service, boundLink), kept)).toBe(200);
    const anew = await signInByPath(service, await link());
    expect([await actsIn(anew, left), await actsIn(anew, kept)]).toEqual([200, 200]);
  });
});

describe("a link that a workspace's admin has made for somebody", async () => {
  const email = "both@example.org";
  const other = await service.addWorkspace();
  await signIn(service, other.apiKey, { email, role: "admin" });
  await database.query(
    `insert into operator (name, email, kind, role, created_at)
       values ('Both', $1, 'person', 'owner', now())`,
    [email],
  );
  const bound = await signIn(service, workspace.apiKey, { email, role: "viewer" });

  test("opens that workspace", async () => {
    const { status } = await bound.request("/v1/workspace", { headers: inWorkspace() });
    expect(status).toBe(200);
    const { body } = await bound.request("/account/v1/account");
    expect(body.data).toMatchObject({
      email,
      workspaces: [{ id: workspace.id, role: "viewer" }],
      operator_role: null,
    });
  });

  test("opens no other workspace of theirs", async () => {
    const { status } = await bound.request("/v1/workspace", { headers: inWorkspace(other.id) });
    expect(status).toBe(403);
  });

  test("does not open the platform, which they run", async () => {
    expect((await bound.request("/admin/v1/self")).status).toBe(403);
  });

  test("shows none of their sessions elsewhere, and ends none", async () => {
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

  test("ends none of their links elsewhere", async () => {
    const invite = (apiKey: string) => service.request("/v1/members", { apiKey, body: { email } });
    const path = (await invite(other.apiKey)).body.sign_in_path;
    for (let i = 0; i < 6; i++) await invite(workspace.apiKey);
    await signInByPath(service, path);
  });
});

describe("signing in by a link", () => {
  /** What the audit log says of it. */
  async function entryOf(path: string) {
    const requestId = `sign-in-${randomUUID()}`;
    const form = { "sec-fetch-site": "same-origin", "x-request-id": requestId };
    const token = tokenOf(path);
    expect((await postForm(service, "/sign-in", { token }, form)).status).toBe(303);
    const { key } = await service.addOperator("viewer");
    const { body } = await service.request("/admin/v1/audit_entries?action=SignIn", {
      apiKey: key,
    });
    return body.data.find((it: { request_id: string }) => it.request_id === requestId);
  }

  const expected = (email: string, person: number, workspaceId: number | null, by: string) => ({
    id: expect.any(Number),
    created_at: expect.any(String),
    actor: { kind: "person", name: email, operator: null },
    action: "SignIn",
    subject: `person/${person}`,
    workspace: workspaceId,
    changes: [{ field: "link_made_by", before: null, after: by }],
    request_id: expect.any(String),
  });
  const invite = async (email: string, by: Pick<SignedIn, "request">) =>
    (await by.request("/v1/members", { headers: inWorkspace(), body: { email } })).body;

  test("that another member has made is in the audit log, with who made it", async () => {
    const email = "audited@example.org";
    const { data, sign_in_path: path } = await invite(email, admin);
    const by = "person ada@example.org";
    expect(await entryOf(path)).toEqual(expected(email, data.person, workspace.id, by));
  });

  test("that an API key has made is there too", async () => {
    const { apiKey } = workspace;
    const request: SignedIn["request"] = (path, options) =>
      service.request(path, { ...options, apiKey });
    const { data, sign_in_path: path } = await invite("ada@example.org", { request });
    const by = `api key ${apiKey.slice(-4)}`;
    expect(await entryOf(path)).toEqual(expected("ada@example.org", data.person, workspace.id, by));
  });

  test("that an operator has made is there, unless for themselves", async () => {
    const { key } = await service.addOperator("owner");
    const email = "olga@example.org";
    const operator = { name: "Olga", kind: "person", email, role: "owner" };
    const options = { apiKey: key };
    const { body } = await service.request("/admin/v1/operators", { ...options, body: operator });
    const link = `/admin/v1/operators/${body.data.id}/sign_in_link`;
    const { body: made } = await service.request(link, { ...options, body: {} });
    const { rows } = await database.query("select id from person where email = $1", [email]);
    const by = "operator Test owner";
    expect(await entryOf(made.sign_in_path)).toEqual(expected(email, Number(rows[0].id), null, by));
    const { body: again } = await service.request(link, { ...options, body: {} });
    const own = await signInByPath(service, again.sign_in_path);
    const ownLink = (await own.request(link, { body: {} })).body.sign_in_path;
    expect(await entryOf(ownLink)).toBeUndefined();
  });

  test("that the person has made for themselves is not", async () => {
    const { sign_in_path: path } = await invite("ada@example.org", admin);
    expect(await entryOf(path)).toBeUndefined();
  });
});

test("an invitation again gives a member a new link and keeps the role", async () => {
  const path = await inviteLink("ada@example.org");
  const again = await signInByPath(service, path);
  const { body } = await again.request("/account/v1/account");
  expect(body.data.workspaces).toEqual([{ ...OWN, role: "admin" }]);
});

test("what members do is in the audit log under their email", async () => {
  const { rows } = await database.query(
    `select actor, actor_name, action, changes from audit_entry
     where actor = 'person' and action = 'RemoveMember' order by id desc limit 1`,
  );
  expect(rows).toEqual([
    {
      actor: "person",
      actor_name: "ada@example.org",
      action: "RemoveMember",
      changes: [{ field: "role", before: "member", after: null }],
    },
  ]);
});

test("a shipment and its events say which member made and changed it", async () => {
  const email = "booker@example.org";
  const booker = await signIn(service, workspace.apiKey, { email, role: "member" });
  const headers = inWorkspace();
  const booked = await booker.request("/v1/shipments", { headers, body: BOOKING });
  expect([booked.status, booked.body.data?.created_by]).toEqual([201, email]);
  const { reference } = booked.body.data;
  const path = `/v1/shipments/${reference}`;
  const { apiKey } = workspace;
  const cancelled = await service.request(`${path}/cancel`, { apiKey, method: "POST" });
  expect(cancelled.body.data.created_by).toBe(email);
  const { body } = await service.request(`${path}/events`, { apiKey });
  expect(body.data.map((it: Record<string, unknown>) => [it.type, it.actor])).toEqual([
    ["shipment.created", email],
    ["shipment.cancelled", null],
  ]);
});

describe("a session for one workspace", () => {
  test("changes the name of somebody whom no other workspace knows", async () => {
    const person = await signIn(service, workspace.apiKey, {
      email: "renamed@example.org",
      role: "viewer",
    });
    const { status, body } = await person.request("/account/v1/account", {
      method: "PATCH",
      body: { name: "Grace Hopper" },
    });
    expect([status, body.data?.name]).toEqual([200, "Grace Hopper"]);
  });

  test("does not change what another workspace sees of the person", async () => {
    const other = await service.addWorkspace();
    const member = { email: "shared@example.org", role: "viewer" } as const;
    await service.request("/v1/members", {
      apiKey: other.apiKey,
      body: { ...member, name: "Shared" },
    });
    const person = await signIn(service, workspace.apiKey, member);
    const { status } = await person.request("/account/v1/account", {
      method: "PATCH",
      body: { name: "Somebody Else" },
    });
    expect(status).toBe(403);
    const { body } = await service.request("/v1/members", { apiKey: other.apiKey });
    expect(body.data).toMatchObject([{ name: "Shared" }]);
  });
});

test("an address whose sessions open nothing of what they ask for has to wait", async () => {
  stopClock();
  const own = await startService();
  const { apiKey } = await own.addWorkspace();
  const person = await signIn(own, apiKey, { email: "probe@example.org", role: "viewer" });
  const open = async (i: number) => {
    const headers = inWorkspace(1_000 + i);
    return (await person.request("/v1/workspace", { headers })).status;
  };
  expect(await untilToldToWait(open)).toEqual(new Set([403, 429]));
});
