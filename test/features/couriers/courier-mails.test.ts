import { expect, test } from "vitest";
import { data, expectRefused } from "../../support/answers.ts";
import { auditEntriesOf } from "../../support/audit.ts";
import { ANY_TIME } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { HURRIED, sharedService, startService } from "../../support/service.ts";

const PUBLIC_URL = "http://book.example.org";

let isDeferring = false;
const server = await startMailServer({
  onRcptTo: (_address, _session, callback) =>
    callback(isDeferring ? Object.assign(new Error("later"), { responseCode: 451 }) : null),
});
const service = await startService({
  publicUrl: PUBLIC_URL,
  mail: { smtpUrl: server.url, from: "Shipments <no-reply@example.org>" },
  outside: HURRIED,
});
const sql = await connectTo(service.databaseUrl);

let couriers = 0;

async function newCourier(fields: object = {}) {
  const { apiKey, id, twin } = await service.addWorkspace();
  const as = service.as(apiKey);
  const email = `courier-${(couriers += 1)}@example.org`;
  const { id: courier } = await data(as.createCourier({ name: "Ada", email, ...fields }));
  const emailLink = () => as.createCourierLink({ courier, send_email: true });
  const mail = () => eventually(`a mail to ${email}`, () => server.mails.find(({ to }) => to.includes(email)));
  const statusesAre = (...statuses: string[]) =>
    eventually(`the emails to be ${statuses.join()}`, async () => {
      const links = await data(as.listCourierLinks({ courier }));
      return links.map((it: { email_status: string }) => it.email_status).join() === statuses.join() && links;
    });
  return { as, id, twin, email, courier, emailLink, mail, statusesAre };
}

const TOKEN = /http:\/\/book\.example\.org\/c#([0-9a-z]+\.[\w-]{43})/;

const open = (token: string) =>
  fetch(`${service.httpUrl}/c/session`, {
    method: "POST",
    body: JSON.stringify({ token }),
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
  });

const INTROS = {
  en: "Test has sent you a link to your stops. Open it on your phone.",
  "es-MX": "Test le ha enviado un enlace a sus paradas. Ábralo en su teléfono.",
  fr: "Test vous a envoyé un lien vers vos arrêts. Ouvrez-le sur votre téléphone.",
  "de-AT": "Test hat Ihnen einen Link zu Ihren Stopps gesendet. Öffnen Sie ihn auf Ihrem Telefon.",
};

test.each(Object.entries(INTROS))(
  "a link is emailed in the courier's language %s, and opens a session",
  async (locale, intro) => {
    const { mail, emailLink, statusesAre } = await newCourier({ locale });
    const { status, body } = await emailLink();
    expect([status, body]).toEqual([201, { data: { ...body.data, email_status: "waiting" }, path: "" }]);
    const { text, html } = await mail();
    const [, token] = TOKEN.exec(text)!;
    expect(text.startsWith(`${intro}\n\n${PUBLIC_URL}/c#${token}\n\n`)).toBe(true);
    expect(html).toContain(`href="${PUBLIC_URL}/c#${token}"`);
    expect((await open(token!)).status).toBe(200);
    expect(await statusesAre("sent")).toEqual([
      { ...body.data, email_status: "sent", devices: 1, last_used_at: ANY_TIME },
    ]);
  },
);

test("the token of an emailed link is not stored, and the email is audited without the address", async () => {
  const { id, courier, email, mail, emailLink } = await newCourier();
  const { body } = await emailLink();
  const [, token] = TOKEN.exec((await mail()).text)!;
  const { rows } = await sql.query("select row_to_json(l)::text as text from courier_link l where id = $1", [
    body.data.id,
  ]);
  expect(rows[0].text).not.toContain(token!.split(".")[1]);
  const entries = await auditEntriesOf(service, id);
  expect(JSON.stringify(entries)).not.toContain(email);
  expect(entries.at(-1)).toMatchObject({
    action: "CreateCourierLink",
    subject: `courier/${courier}`,
    changes: [
      { field: "link", before: null, after: body.data.id },
      { field: "expires_at", before: null, after: body.data.expires_at },
      { field: "emailed", before: null, after: "true" },
    ],
  });
});

test("an email that the server defers is sent again with another token", async () => {
  const { mail, emailLink, statusesAre } = await newCourier();
  isDeferring = true;
  const { body } = await emailLink();
  const hashes = async () => {
    const { rows } = await sql.query("select hash, attempts from courier_link where id = $1", [body.data.id]);
    return rows[0];
  };
  const first = await eventually("an attempt", async () => {
    const row = await hashes();
    const { rows } = await sql.query(
      "select from courier_link where id = $1 and attempts = 1 and next_attempt_at < now() + interval '30 s'",
      [body.data.id],
    );
    return rows.length > 0 && row;
  });
  isDeferring = false;
  await sql.query("update courier_link set next_attempt_at = now() where id = $1", [body.data.id]);
  const [, token] = TOKEN.exec((await mail()).text)!;
  await statusesAre("sent");
  expect((await hashes()).hash).not.toBe(first.hash);
  expect((await open(token!)).status).toBe(200);
});

test("a revoked link is not sent", async () => {
  const { as, courier, email, emailLink } = await newCourier();
  isDeferring = true;
  const { body } = await emailLink();
  await as.revokeCourierLink({ courier, link: body.data.id });
  await sql.query("update courier_link set next_attempt_at = now() where id = $1", [body.data.id]);
  await eventually("the link to be deleted", async () => {
    await sql.query("update courier_link set next_attempt_at = now() where id = $1 and attempts > 0", [body.data.id]);
    return (await sql.query("select from courier_link where id = $1", [body.data.id])).rows.length === 0;
  });
  isDeferring = false;
  expect(server.mails.filter(({ to }) => to.includes(email))).toEqual([]);
});

test("a link is not emailed without an address, a mail server, or in test mode", async () => {
  const { as, courier, twin, emailLink } = await newCourier({ email: "" });
  await expectRefused(emailLink(), "COURIER_EMAIL_MISSING", {
    email: "The courier has no email address. Add one, or create a link without send_email and share it.",
  });
  expect(await data(as.listCourierLinks({ courier }))).toEqual([]);

  const plain = await sharedService();
  const { apiKey } = await plain.addWorkspace();
  for (const [calls, text] of [
    [plain.as(apiKey), "The service has no mail server. Share the link."],
    [service.as(twin.apiKey), "Test mode sends no email. Create a link without send_email."],
  ] as const) {
    const { id } = await data(calls.createCourier({ name: "Ada", email: "ada@example.org" }));
    await expectRefused(calls.createCourierLink({ courier: id, send_email: true }), "EMAIL_UNAVAILABLE", {
      send_email: text,
    });
  }
});

test("a courier can receive 3 emails within 15 minutes, and a workspace 1,000 within an hour, with revoked links", async () => {
  const { as, id, courier, emailLink, statusesAre } = await newCourier();
  for (let i = 0; i < 3; i++) {
    const { body } = await emailLink();
    await statusesAre("sent");
    await as.revokeCourierLink({ courier, link: body.data.id });
  }
  await expectRefused(emailLink(), "COURIER_EMAIL_LIMIT");
  await sql.query("update courier_link set created_at = now() - interval '16 minutes' where courier_id = $1", [
    courier,
  ]);
  await data(emailLink());
  const { id: other } = await data(as.createCourier({ name: "Grace", email: "grace@example.org" }));
  await sql.query(
    `insert into courier_link (workspace_id, id, courier_id, hash, created_by, created_at, ends_at, state)
     select $1, 'col_' || i, $2, 'hash' || i, '', now() - interval '30 minutes', now(), 'sent'
     from generate_series(1, 1000) i`,
    [id, courier],
  );
  await expectRefused(as.createCourierLink({ courier: other, send_email: true }), "COURIER_EMAIL_LIMIT");
});

test("couriers of a workspace receive no more than 1,000 emails within an hour if the links are created concurrently", async () => {
  const { as, id, courier } = await newCourier();
  await sql.query(
    `insert into courier_link (workspace_id, id, courier_id, hash, created_by, created_at, ends_at, state)
     select $1, 'col_' || i, $2, gen_random_uuid(), '', now() - interval '30 minutes', now(), 'sent'
     from generate_series(1, 998) i`,
    [id, courier],
  );
  const others = await Promise.all(
    Array.from({ length: 8 }, () => data(as.createCourier({ name: "Grace", email: "grace@example.org" }))),
  );
  const links = others.map((other) => as.createCourierLink({ courier: other.id, send_email: true }));
  const statuses = (await Promise.all(links)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(2);
});
