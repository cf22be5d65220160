import { describe, expect, test } from "vitest";
import { postForm, signIn, signInByPath } from "../../support/browser.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { linkIn, startMailServer, type MailServer } from "../../support/mail-server.ts";
import { parsePrometheus } from "../../support/metrics.ts";
import { queriesOf } from "../../support/query-log.ts";
import { startReplica, startService, type TestService } from "../../support/service.ts";
import type { LogLine } from "../../support/service-process.ts";

const PUBLIC_URL = "http://book.example.org";
const FROM = "Shipments <no-reply@example.org>";

const server = await startMailServer();
const lines: LogLine[] = [];
const service = await startService({
  ...mailing(server),
  logged: (line) => void lines.push(line),
});
const workspace = await service.addWorkspace();
const database = await connectTo(service.databaseUrl);

function mailing({ url }: Pick<MailServer, "url">) {
  return { publicUrl: PUBLIC_URL, mail: { smtpUrl: url, from: FROM } };
}

/** Settings for a service that polls for due emails very often. */
const fastPolling = (to: MailServer) => ({ ...mailing(to), outside: { pollMs: 50 } });

/** Adds a person as a member without sending an email. */
async function addMember(email: string, of: TestService = service, key = workspace.apiKey) {
  const { body } = await of.request("/v1/members", { apiKey: key, body: { email } });
  await database.query("delete from mail where kind = 'invitation'");
  return body.data.person as number;
}

const ask = (email: string, of = service, headers?: Record<string, string>) =>
  postForm(of, "/sign-in/mail", { email }, headers);

const mailsTo = (to: string, from = server) => from.mails.filter((mail) => mail.to.includes(to));

const mailTo = (to: string, from = server) => eventually(`a mail to ${to}`, () => mailsTo(to, from)[0]);

/** Returns the state of each email to an address, oldest first. */
async function statesOf(email: string, from = database): Promise<string[]> {
  const { rows } = await from.query("select state from mail where email = $1 order by id", [email]);
  return rows.map(({ state }) => state);
}

const untilStatesAre = (email: string, states: readonly string[]) =>
  eventually(`${email} to be ${states.join(", ")}`, async () => {
    return (await statesOf(email)).join() === states.join();
  });

/** Waits until all requests so far are checked. */
const untilAllChecked = () =>
  eventually("all requests to be checked", async () => {
    const { rows } = await database.query("select from mail where state = 'asked'");
    return rows.length === 0;
  });

/** SQL that postpones emails with a failed attempt, so that they are retried only when a test makes them due. */
const POSTPONE = `
  update mail set next_attempt_at = now() + interval '1 day'
  where attempts > 0 and next_attempt_at < now() + interval '45 s'`;

/** SQL that makes waiting emails due, except those with a lease of 60 seconds. */
const DUE_NOW = `
  update mail set next_attempt_at = now() where state = 'waiting'
    and next_attempt_at not between now() + interval '45 s' and now() + interval '60 s'`;

/** Returns the number of emails by outcome. */
async function outcomesOf(of: TestService) {
  const { text } = await of.request("/metrics");
  const { samples } = parsePrometheus(text).get("shipments_queue_processed_total")!;
  const own = samples.filter(({ labels }) => labels["queue"] === "sign_in_mails");
  return Object.fromEntries(own.map(({ labels, value }) => [labels["outcome"], value]));
}

const follow = (link: string, at = service) => signInByPath(at, link.slice(PUBLIC_URL.length));

test("a person signs in with either form of an internationalized domain", async () => {
  const stored = "ida@xn--bcher-kva.example";
  await addMember("ida@b\u00fccher.example");
  await ask("ida@b\u00fccher.example");
  await untilStatesAre(stored, ["sent"]);
  await ask(stored);
  await untilStatesAre(stored, ["sent", "sent"]);
});

describe("a sign-in link by email", () => {
  test("is sent as text and HTML to the account's address, and works once", async () => {
    await addMember("Ada@example.org");
    const response = await ask(" ada@EXAMPLE.org ");
    expect([response.status, response.headers.get("location"), response.headers.get("set-cookie")]).toEqual([
      303,
      "/sign-in",
      null,
    ]);
    const mail = await mailTo("Ada@example.org");
    const link = linkIn(mail);
    expect(link).toMatch(/^http:\/\/book\.example\.org\/sign-in#token=[\w-]{43}$/);
    expect(mail.text).toBe(
      `You requested a link to sign in to Shipments at book.example.org. Sign in:

${link}

The link can be used once and expires after 15 minutes. To get a new link, enter your email address at
http://book.example.org/sign-in

If you did not request it, ignore this email. No one can sign in without the link.
`,
    );
    expect(mail.html).toContain(`<a href="${link}"`);
    expect(mail.html).not.toMatch(/<img|<script|<link|url\(|@import/);
    expect([mail.from, mail.headers.from, mail.headers.to]).toEqual(["no-reply@example.org", FROM, "Ada@example.org"]);
    expect(mail.headers).toMatchObject({
      subject: "Your link to Shipments",
      "auto-submitted": "auto-generated",
    });
    const person = await follow(link);
    expect((await person.request("/account/v1/account")).body.data.email).toBe("Ada@example.org");
    await expect(follow(link)).rejects.toThrow("This link is not valid");
  });

  test("opens everything that the person may access, not a single workspace", async () => {
    const email = "both@example.org";
    await addMember(email);
    const other = await service.addWorkspace();
    await addMember(email, service, other.apiKey);
    await ask(email);
    const person = await follow(linkIn(await mailTo(email)));
    const { body } = await person.request("/account/v1/account");
    expect(body.data.workspaces.map(({ id }: { id: number }) => id)).toEqual([workspace.id, other.id]);
  });

  test("works for an operator who has never signed in", async () => {
    await database.query(
      `insert into operator (name, email, kind, role, created_at)
       values ('Olga', 'olga@example.org', 'person', 'owner', now())`,
    );
    await ask("olga@example.org");
    const operator = await follow(linkIn(await mailTo("olga@example.org")));
    const { body } = await operator.request("/account/v1/account");
    expect([body.data.name, body.data.operator_role]).toEqual(["Olga", "owner"]);
  });

  test("is requested with the same response and statements for known, unknown and rate-limited accounts", async () => {
    await addMember("known@example.org");
    const answers: unknown[] = [];
    const statements: unknown[] = [];
    // Blocks the check of requests, so that only the calls' own statements are recorded.
    await database.query("begin");
    await database.query("select pg_advisory_xact_lock(hashtextextended('mails', 0))");
    for (const email of ["known@example.org", "nobody@example.org", ...often("known@example.org")]) {
      const queries = await queriesOf(service.app.em, async () => {
        const response = await ask(email, service, {
          "sec-fetch-site": "same-origin",
          "x-request-id": "the-same",
        });
        const headers = [...response.headers].filter(([name]) => name !== "date");
        answers.push([response.status, headers, await response.text()]);
      });
      const own = queries.filter(({ params }) => params.includes(email));
      statements.push(own.map(({ sql }) => sql));
    }
    await database.query("commit");
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(new Set(statements.map((sent) => JSON.stringify(sent))).size).toBe(1);
    expect(statements[0]).toHaveLength(1);
    await untilAllChecked();
    await untilStatesAre("known@example.org", ["sent", "sent", "sent"]);
    expect(mailsTo("known@example.org").length).toBe(3);
    expect(await statesOf("nobody@example.org")).toEqual([]);
  });

  test.each([
    "",
    "ada",
    "ada@",
    "a b@example.org",
    "ada@example.org\r\nBcc: eve@example.org",
    `${"a".repeat(251)}@b.c`,
    "\u{212a}ate@example.org",
  ])("is rejected with an explanation for the email %j", async (email) => {
    const refused = await ask(email);
    const text = "Enter an email such as ada@example.org.";
    expect([refused.status, await refused.json()]).toEqual([
      422,
      {
        message: text,
        errors: { email: [text] },
        code: "FIELD_INVALID",
        request_id: expect.any(String),
      },
    ]);
  });

  test("can be requested only from a page of this site", async () => {
    const headers = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    expect((await ask("ada@example.org", service, headers)).status).toBe(403);
  });

  test("is not sent to revoked operators or machines", async () => {
    await database.query(
      `insert into operator (name, email, kind, role, created_at, revoked_at)
       values ('Former', 'former@example.org', 'person', 'owner', now(), now()),
         ('A program', 'program@example.org', 'machine', 'owner', now(), null)`,
    );
    for (const email of ["former@example.org", "program@example.org"]) await ask(email);
    await untilAllChecked();
    expect([await statesOf("former@example.org"), await statesOf("program@example.org")]).toEqual([[], []]);
  });
});

const often = (email: string) => Array.from({ length: 4 }, () => email);

test("limits requests by client address, regardless of the email", async () => {
  const own = await startService(mailing(server));
  const statuses: number[] = [];
  for (let i = 0; i < 60 && !statuses.includes(429); i++) {
    statuses.push((await ask(`${i}@example.org`, own)).status);
  }
  expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 303));
  expect(statuses).toContain(429);
});

test("queues up to a thousand requests and rejects further ones with a retry delay", async () => {
  const own = await startService(mailing(server));
  const sql = await connectTo(own.databaseUrl);
  // Simulates another process that checks requests.
  await sql.query("begin");
  await sql.query("select pg_advisory_xact_lock(hashtextextended('mails', 0))");
  await (
    await connectTo(own.databaseUrl)
  ).query(
    `insert into mail (kind, state, email, created_at, next_attempt_at)
     select 'sign_in', 'asked', i || '@example.org', now(), now() from generate_series(1, 999) i`,
  );
  const statuses = [];
  for (let i = 0; i < 2; i++) statuses.push((await ask("ada@example.org", own)).status);
  const { rows } = await sql.query("select count(*)::int from mail");
  expect([statuses, rows]).toEqual([[303, 503], [{ count: 1_000 }]]);
  await sql.query("commit");
  await eventually("all requests to be checked", async () => {
    return (await sql.query("select from mail")).rows.length === 0;
  });
  expect((await ask("ada@example.org", own)).status).toBe(303);
});

describe("an invitation", () => {
  const invite = (email: string, key = workspace.apiKey) =>
    service.request("/v1/members", { apiKey: key, body: { email } });

  test("is sent with its own link, separate from the one in the response, and names the workspace", async () => {
    const { id, apiKey } = await service.addWorkspace();
    await database.query("update workspace set name = 'Acme <b> & Sons' where id = $1", [id]);
    const { status, body } = await invite("grace@example.org", apiKey);
    expect([status, body]).toEqual([201, { data: expect.anything(), sign_in_path: expect.any(String), mailed: true }]);
    const mail = await mailTo("grace@example.org");
    expect(mail.headers.subject).toBe("Your invitation to Acme <b> & Sons");
    expect(mail.text).toContain("You are invited to Acme <b> & Sons, a workspace on Shipments");
    expect(mail.html).toContain("You are invited to Acme &lt;b&gt; &amp; Sons, a workspace");
    for (const link of [linkIn(mail), PUBLIC_URL + body.sign_in_path]) {
      const { body: account } = await (await follow(link)).request("/account/v1/account");
      expect(account.data.email).toBe("grace@example.org");
    }
  });

  test("by an operator is also sent", async () => {
    const { key } = await service.addOperator();
    const path = `/admin/v1/workspaces/${workspace.id}/members`;
    const { body } = await service.request(path, {
      apiKey: key,
      body: { email: "hedy@example.org" },
    });
    expect(body.mailed).toBe(true);
    expect((await mailTo("hedy@example.org")).headers.subject).toBe("Your invitation to Test");
  });

  test("is sent up to 3 times per person in 15 minutes, and 200 times per workspace and day", async () => {
    const mailed = [];
    for (let i = 0; i < 4; i++) mailed.push((await invite("again@example.org")).body.mailed);
    expect(mailed).toEqual([true, true, true, false]);
    const busy = await service.addWorkspace();
    await database.query(
      `insert into mail (kind, state, email, workspace_id, created_at, next_attempt_at)
       select 'invitation', 'sent', i || '@example.org', $1, now(), now()
       from generate_series(1, 199) i`,
      [busy.id],
    );
    expect((await invite("last@example.org", busy.apiKey)).body.mailed).toBe(true);
    expect((await invite("more@example.org", busy.apiKey)).body.mailed).toBe(false);
  });

  test("is not sent to a person who is removed before", async () => {
    const own = await startMailServer();
    await own.stop();
    const other = await startService(fastPolling(own));
    const { apiKey } = await other.addWorkspace();
    const sql = await connectTo(other.databaseUrl);
    const { body } = await other.request("/v1/members", {
      apiKey,
      body: { email: "gone@example.org" },
    });
    // Waits for the first attempt to fail. While running, it would continue during the removal.
    await eventually("the first attempt to fail", async () => {
      const { rowCount } = await sql.query(POSTPONE);
      return rowCount === 1;
    });
    await other.request(`/v1/members/${body.data.person}`, { apiKey, method: "DELETE" });
    await own.start();
    await eventually("the email to be deleted", async () => {
      await sql.query(DUE_NOW);
      return (await sql.query("select from mail")).rows.length === 0;
    });
    expect(own.mails).toEqual([]);
  });
});

describe("a mail server", () => {
  test("that is down delays nothing else, and gets every email once it is back", async () => {
    const own = await startMailServer();
    await own.stop();
    const other = await startService(fastPolling(own));
    const replica = await startReplica(other.databaseUrl, fastPolling(own));
    const { apiKey } = await other.addWorkspace();
    const sql = await connectTo(other.databaseUrl);
    const emails = Array.from({ length: 12 }, (_, i) => `${i}@example.org`);
    for (const email of emails) {
      const { status } = await other.request("/v1/members", { apiKey, body: { email } });
      expect(status).toBe(201);
    }
    await signIn(other, apiKey, { email: "0@example.org", role: "viewer" });
    await eventually("delivery attempts", async () => {
      return (await sql.query("select from mail where attempts > 0")).rows.length > 3;
    });
    expect((await sql.query("select distinct state from mail")).rows).toEqual([{ state: "waiting" }]);
    await own.start();
    await eventually("all emails to be sent", async () => {
      await sql.query(DUE_NOW);
      return (await sql.query("select from mail where state <> 'sent'")).rows.length === 0;
    });
    // Expects one more email each, because the people above were invited twice.
    expect(own.mails.map(({ to }) => to.join()).toSorted()).toEqual(["0@example.org", ...emails].toSorted());
    await replica.close();
  });

  test("that gets many emails at once receives each from one of two replicas", async () => {
    const own = await startMailServer();
    const other = await startService(fastPolling(own));
    await startReplica(other.databaseUrl, fastPolling(own));
    const { id } = await other.addWorkspace();
    const sql = await connectTo(other.databaseUrl);
    await sql.query(
      `with added as (
         insert into person (email, name, created_at)
         select i || '@example.org', i, now() from generate_series(1, 20) i returning id, email
       ), joined as (
         insert into membership (workspace_id, person_id, role, created_at)
         select $1, id, 'viewer', now() from added
       )
       insert into mail (kind, state, email, workspace_id, created_at, next_attempt_at)
       select 'invitation', 'waiting', email, $1, now(), now() from added`,
      [id],
    );
    await eventually("all emails to be sent", async () => {
      return (await sql.query("select from mail where state <> 'sent'")).rows.length === 0;
    });
    const emails = Array.from({ length: 20 }, (_, i) => `${i + 1}@example.org`);
    expect(own.mails.map(({ to }) => to.join()).toSorted()).toEqual(emails.toSorted());
    expect(new Set(own.mails.map(({ headers }) => headers["message-id"])).size).toBe(20);
  });

  test("that refuses a recipient ends only that email, and one that defers a recipient gets it again", async () => {
    const seen: string[] = [];
    const own = await startMailServer({
      onRcptTo({ address }, _session, callback) {
        seen.push(address);
        if (address.startsWith("refused")) {
          return callback(Object.assign(new Error(`no ${address} here`), { responseCode: 550 }));
        }
        const isFirst = seen.filter((it) => it === address).length === 1;
        if (address.startsWith("later") && isFirst) {
          return callback(Object.assign(new Error("come back"), { responseCode: 451 }));
        }
        callback();
      },
    });
    const logged: LogLine[] = [];
    const other = await startService({
      ...fastPolling(own),
      logged: (line) => void logged.push(line),
    });
    const { apiKey } = await other.addWorkspace();
    const sql = await connectTo(other.databaseUrl);
    const emails = ["refused@example.org", "later@example.org", "taken@example.org"];
    for (const email of emails) await other.request("/v1/members", { apiKey, body: { email } });
    await eventually("all emails to be sent or dropped", async () => {
      await sql.query(DUE_NOW);
      return (await sql.query("select from mail where state = 'waiting'")).rows.length === 0;
    });
    const { rows } = await sql.query("select email, state, attempts from mail order by id");
    expect(rows).toEqual([
      { email: emails[0], state: "failed", attempts: 1 },
      { email: emails[1], state: "sent", attempts: 2 },
      { email: emails[2], state: "sent", attempts: 1 },
    ]);
    expect(await outcomesOf(other)).toEqual({ sent: 2, refused: 1, deferred: 1, unreachable: 0, expired: 0, lost: 0 });
    const warned = logged.filter(({ msg }) => msg === "an email was not sent");
    expect(warned.map(({ kind, status }) => `${String(kind)} ${String(status)}`).toSorted()).toEqual([
      "deferred 451",
      "refused 550",
    ]);
    expect(JSON.stringify(logged)).not.toContain("@example.org");
    // Links from failed attempts must not stay valid.
    const links = "select from sign_in_link where workspace_id is null";
    expect((await sql.query(links)).rows.length).toBe(2);
  });

  test("that defers all emails is sent a sign-in link for up to 15 minutes and an invitation for up to a day", async () => {
    const own = await startMailServer({
      onRcptTo: (_address, _session, callback) =>
        callback(Object.assign(new Error("come back"), { responseCode: 451 })),
    });
    const other = await startService(fastPolling(own));
    const { apiKey } = await other.addWorkspace();
    const sql = await connectTo(other.databaseUrl);
    await other.request("/v1/members", { apiKey, body: { email: "ada@example.org" } });
    await ask("ada@example.org", other);
    const stateOf = async (kind: string, age: string) => {
      const before = await attemptsOf(kind);
      await sql.query("update mail set created_at = now() - $2::interval where kind = $1", [kind, age]);
      return eventually(`an attempt at ${kind}`, async () => {
        await sql.query(DUE_NOW);
        const { rows } = await sql.query("select state, attempts from mail where kind = $1", [kind]);
        return rows[0].attempts > before + 1 || rows[0].state === "failed" ? rows[0].state : false;
      });
    };
    const attemptsOf = async (kind: string) => {
      const row = await eventually("the email to be postponed", async () => {
        const sent = "select attempts from mail where kind = $1 and state = 'waiting'";
        return (await sql.query(sent, [kind])).rows[0];
      });
      return row.attempts as number;
    };
    expect(await stateOf("sign_in", "14 minutes")).toBe("waiting");
    expect(await stateOf("sign_in", "15 minutes 1 second")).toBe("failed");
    expect(await stateOf("invitation", "23 hours 50 minutes")).toBe("waiting");
    expect(await stateOf("invitation", "24 hours 1 second")).toBe("failed");
    expect(await outcomesOf(other)).toMatchObject({ sent: 0, expired: 2 });
  });
});

test("logs contain neither email addresses nor tokens", () => {
  expect(lines.length).toBeGreaterThan(10);
  expect(JSON.stringify(lines)).not.toMatch(/@example|token=|smtp:/);
});

test("a service without a mail server sends no emails", async () => {
  const own = await startService({ publicUrl: PUBLIC_URL });
  const { apiKey } = await own.addWorkspace();
  const { body } = await own.request("/v1/members", { apiKey, body: { email: "a@example.org" } });
  expect(body.mailed).toBe(false);
  expect((await ask("a@example.org", own)).status).toBe(404);
  expect((await own.request("/sign-in/options")).body.mail).toBe(false);
  const sql = await connectTo(own.databaseUrl);
  expect((await sql.query("select from mail")).rows).toEqual([]);
});
