import { expect, test } from "vitest";
import { data } from "../../support/answers.ts";
import { book, bookAnd, takeStep } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { queriesOf } from "../../support/query-log.ts";
import { HURRIED, startReplica, startService } from "../../support/service.ts";

const PUBLIC_URL = "http://book.example.org";

const server = await startMailServer();
const mailing = {
  publicUrl: PUBLIC_URL,
  mail: { smtpUrl: server.url, from: "Shipments <no-reply@example.org>" },
};
const service = await startService({ ...mailing, outside: HURRIED });
const sql = await connectTo(service.databaseUrl);

/** Creates a workspace before its keys are used, by default with recipient emails. */
async function addWorkspace(notifiesRecipients = true) {
  const workspace = await service.addWorkspace();
  await sql.query("update workspace set notifies_recipients = $2, tracking_contact = '+1 555 0100' where id = $1", [
    workspace.id,
    notifiesRecipients,
  ]);
  return { ...workspace, as: service.as(workspace.apiKey) };
}

let recipients = 0;
const newEmail = () => `Recipient-${(recipients += 1)}@example.org`;

const mailsTo = (email: string) => server.mails.filter(({ to }) => to.includes(email));

const mailAbout = (email: string, subject: string) =>
  eventually(`a mail about ${subject}`, () =>
    mailsTo(email).find(({ headers }) => decoded(headers["subject"]!).endsWith(subject)),
  );

/** Decodes a header for display (RFC 2047). */
function decoded(header: string): string {
  return header.replaceAll(/=\?UTF-8\?Q\?(.*?)\?=\s*/gi, (_, words: string) =>
    decodeURIComponent(words.replaceAll("_", " ").replaceAll("=", "%")),
  );
}

async function mailsOf(shipment: string) {
  const { rows } = await sql.query(
    "select kind, state from recipient_notice where shipment_reference = $1 order by created_at",
    [shipment],
  );
  return rows.map(({ kind, state }) => `${kind} ${state}`);
}

/** Inserts a due recipient email that has waited for `age`. */
async function insertMail(workspace: number, shipment: string, kind: string, age = "0 s") {
  await sql.query(
    `insert into recipient_notice (workspace_id, shipment_reference, kind, created_at, next_attempt_at)
     values ($1, $2, $3, now() - $4::interval, now())`,
    [workspace, shipment, kind, age],
  );
}

const open = (url: string, init: RequestInit = {}) => fetch(url.replace(PUBLIC_URL, service.httpUrl), init);

test("emails the recipient in their language about each step from the payment to the delivery", async () => {
  const { apiKey, as } = await addWorkspace();
  const email = newEmail();
  const fields = { recipient_email: email, recipient_locale: "de", metadata: { floor: "third" } };
  const {
    reference: shipment,
    tracking_url: url,
    dropoff_pin: pin,
  } = await book(service, apiKey, {
    ...fields,
    recipient_name: "Grace Hopper",
    dropoff_verification: "pin",
  });
  expect(await mailsOf(shipment)).toEqual([]);
  await takeStep(service, apiKey, shipment, "pay");
  const booked = await mailAbout(email, "Test: Ihre Lieferung ist gebucht");
  expect(booked.text).toBe(`Ihre Lieferung ist gebucht.
Nennen Sie dem Kurier diese PIN: ${pin}

Lieferung verfolgen:
${url}

Sendungsnummer: ${shipment}
Fragen? +1 555 0100

Sie erhalten diese E-Mail, weil Test Ihnen eine Sendung zustellt.
E-Mails abbestellen:
${/https?:\S+\/unsubscribe\/[\w-]{22}$/m.exec(booked.text)?.[0]}
`);
  await data(as.setCourier({ shipment, name: "Ada Byron" }));
  await takeStep(service, apiKey, shipment, "advance");
  await mailAbout(email, "Test: Ihre Lieferung ist unterwegs");
  await data(as.reportProgress({ shipment, stage: "at_dropoff" }));
  await mailAbout(email, "Test: Ihr Kurier steht vor der Tür");
  await data(as.recordAttempt({ shipment, reason: "nobody_there", note: "Dog" }));
  await mailAbout(email, "Test: Ihre Lieferung konnte nicht übergeben werden");
  await data(as.reportProgress({ shipment, stage: "at_dropoff" }));
  await data(as.recordProof({ shipment, pin }));
  await takeStep(service, apiKey, shipment, "advance");
  const last = await mailAbout(email, "Test: Ihre Lieferung ist angekommen");
  await eventually("all emails to be recorded", async () => (await mailsOf(shipment)).every(isSent));
  expect(last.text).not.toContain("PIN");
  // There is one email per kind, although the courier arrived twice.
  expect(mailsTo(email)).toHaveLength(5);
  const unsubscribeUrl = /https?:\S+\/unsubscribe\/\S+/.exec(last.text)![0];
  expect(last.headers).toMatchObject({
    from: "Shipments <no-reply@example.org>",
    "auto-submitted": "auto-generated",
    "list-unsubscribe": `<${unsubscribeUrl}>`,
    "list-unsubscribe-post": "List-Unsubscribe=One-Click",
    "message-id": expect.stringMatching(new RegExp(`^<${shipment}\\.delivered\\.\\d+@book\\.example\\.org>$`)),
  });
  for (const hidden of ["Hopper", "Byron", "Dog", "third", "Brooklyn", "12.69", "Lovelace"]) {
    for (const { text, html } of mailsTo(email)) expect(text + html).not.toContain(hidden);
  }
});

test("emails another recipient, a new PIN and each failed attempt, even after an earlier email", async () => {
  const { apiKey, as } = await addWorkspace();
  const [first, second] = [newEmail(), newEmail()];
  const { reference: shipment } = await bookAnd(service, apiKey, ["pay", "advance"], {
    recipient_email: first,
  });
  await mailAbout(first, "Your delivery is on its way");
  await data(as.updateShipment({ shipment, recipient_email: second }));
  const corrected = await mailAbout(second, "Your delivery is on its way");
  expect(corrected.text).not.toContain("PIN");
  const { dropoff_pin: pin } = await data(as.updateShipment({ shipment, dropoff_verification: "pin" }));
  await eventually("the PIN", () => mailsTo(second).find(({ text }) => text.includes(pin)));
  for (const times of [1, 2]) {
    await data(as.recordAttempt({ shipment, reason: "nobody_there" }));
    await eventually("the attempt", async () => mailsTo(second).length === 2 + times);
    await eventually("all emails to be recorded", async () => (await mailsOf(shipment)).every(isSent));
  }
  const { rows } = await sql.query(
    `select kind, tellings from recipient_notice
     where shipment_reference = $1 and kind <> 'awaiting_pickup' order by kind`,
    [shipment],
  );
  expect(rows).toEqual([
    { kind: "attempt_failed", tellings: 2 },
    { kind: "in_transit", tellings: 3 },
  ]);
});

const isSent = (mail: string) => mail.endsWith(" sent");

test("a workspace can turn recipient emails on and off", async () => {
  const { apiKey, as } = await addWorkspace(false);
  for (const notifies_recipients of [true, false]) {
    expect((await data(as.updateWorkspace({ notifies_recipients }))).notifies_recipients).toBe(notifies_recipients);
    await eventually("the change to take effect", async () => {
      const { reference } = await bookAnd(service, apiKey, ["pay"], {
        recipient_email: newEmail(),
      });
      return (await mailsOf(reference)).length === (notifies_recipients ? 1 : 0);
    });
  }
});

test("sends no email if the workspace has not enabled them, in test mode, or without an address", async () => {
  const silent = await service.addWorkspace();
  const notifying = await addWorkspace();
  const recipient = { recipient_email: newEmail() };
  for (const [key, fields] of [
    [silent.apiKey, recipient],
    [notifying.twin.apiKey, recipient],
    [notifying.apiKey, {}],
  ] as const) {
    const { reference } = await bookAnd(service, key, ["pay", "advance"], fields);
    expect(await mailsOf(reference)).toEqual([]);
  }
  const without = await startReplica(service.databaseUrl, { publicUrl: PUBLIC_URL });
  const { reference } = await bookAnd(without, notifying.apiKey, ["pay"], recipient);
  expect(await mailsOf(reference)).toEqual([]);
});

test("a change takes one more statement if its recipient gets an email, and no more otherwise", async () => {
  const [silent, notifying] = [await addWorkspace(false), await addWorkspace()];
  const statements = async (apiKey: string, fields: object) => {
    const { reference } = await book(service, apiKey, fields);
    const queries = await queriesOf(service.app.em, async () => {
      await takeStep(service, apiKey, reference, "pay");
    });
    const own = queries.filter(({ params }) => JSON.stringify(params).includes(reference));
    return own.map(({ sql: text }) => text).filter((text) => !text.includes("returning"));
  };
  const email = newEmail();
  const usual = await statements(silent.apiKey, { recipient_email: email });
  expect(usual.length).toBeGreaterThan(2);
  expect(await statements(notifying.apiKey, {})).toEqual(usual);
  const more = await statements(notifying.apiKey, { recipient_email: email });
  expect(more.filter((text) => !usual.includes(text))).toEqual([
    expect.stringContaining("insert into recipient_notice"),
  ]);
  await mailAbout(email, "Your delivery is booked");
});

test.each<[string, (of: Awaited<ReturnType<typeof addWorkspace>>, shipment: string) => unknown]>([
  ["its email address was removed", ({ as }, shipment) => as.updateShipment({ shipment, recipient_email: "" })],
  ["the workspace turned them off", ({ as }) => as.updateWorkspace({ notifies_recipients: false })],
  ["tracking links are disabled", ({ as }) => as.updateWorkspace({ tracking_enabled: false })],
  [
    "the workspace is suspended",
    async ({ id }) => service.as((await service.addOperator()).key).suspendWorkspace({ workspace: id }),
  ],
  ["the shipment has progressed since", ({ apiKey }, shipment) => takeStep(service, apiKey, shipment, "advance")],
])("drops a waiting email if %s", async (_, happens) => {
  const workspace = await addWorkspace(false);
  const email = newEmail();
  const { reference } = await bookAnd(service, workspace.apiKey, ["pay"], {
    recipient_email: email,
  });
  await data(workspace.as.updateWorkspace({ notifies_recipients: true }));
  await insertMail(workspace.id, reference, "awaiting_pickup");
  await mailAbout(email, "Your delivery is booked");
  await happens(workspace, reference);
  await sql.query("delete from recipient_notice where shipment_reference = $1", [reference]);
  await insertMail(workspace.id, reference, "awaiting_pickup");
  await eventually("the email to be deleted", async () => !(await mailsOf(reference)).some(isOfPayment));
  expect(mailsTo(email).filter(({ text }) => text.includes("is booked"))).toHaveLength(1);
});

const isOfPayment = (mail: string) => mail.startsWith("awaiting_pickup");

test("sends no emails in test mode or an hour late", async () => {
  const { apiKey, id, twin } = await addWorkspace();
  const email = newEmail();
  const pending = { recipient_email: email };
  const ofTest = await bookAnd(service, twin.apiKey, ["pay"], pending);
  await insertMail(twin.id, ofTest["reference"], "awaiting_pickup");
  const { reference } = await book(service, apiKey, pending);
  await insertMail(id, reference, "awaiting_pickup", "1 hour 1 s");
  await eventually("both emails to be checked", async () => {
    const [late] = await mailsOf(reference);
    return late === "awaiting_pickup failed" && (await mailsOf(ofTest["reference"])).length === 0;
  });
  expect(mailsTo(email)).toEqual([]);
});

test("a recipient can unsubscribe from a workspace by confirming an unguessable link", async () => {
  const { apiKey } = await addWorkspace();
  const email = newEmail();
  const mailsFor = (key: string, fields: object = {}) =>
    bookAnd(service, key, ["pay"], { recipient_email: email, ...fields });
  const { tracking_url: trackingUrl, reference } = await mailsFor(apiKey, { recipient_locale: "fr" });
  const mail = await mailAbout(email, "Votre livraison est enregistrée");
  const url = mail.headers["list-unsubscribe"]!.slice(1, -1);
  expect(url.startsWith(`${trackingUrl}/unsubscribe/`)).toBe(true);
  const question = await open(url);
  const page = await question.text();
  expect([question.status, page]).toEqual([200, expect.stringContaining('<form method="post">')]);
  expect(page).toContain("<h1>Se désabonner des e-mails sur les livraisons de Test ?</h1>");
  await takeStep(service, apiKey, reference, "advance");
  await mailAbout(email, "Votre livraison est en route");
  const body = "List-Unsubscribe=One-Click";
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const ended = await open(url, { method: "POST", body, headers });
  expect([ended.status, await ended.text()]).toEqual([
    200,
    expect.stringContaining("Vous êtes désabonné des e-mails sur les livraisons de Test."),
  ]);
  expect((await open(url, { method: "POST", body, headers })).status).toBe(200);
  // Email addresses are compared without case.
  const again = await mailsFor(apiKey, { recipient_email: email.toLowerCase() });
  await eventually("the email to be deleted", async () => {
    return (await mailsOf(again["reference"])).length === 0;
  });
  expect(mailsTo(email.toLowerCase())).toEqual([]);
  await mailsFor((await addWorkspace()).apiKey);
  await mailAbout(email, "Your delivery is booked");
  const put = await open(url, { method: "PUT" });
  expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
  expect((await open(trackingUrl, { method: "POST" })).status).toBe(405);
});

test("an invalid unsubscribe link responds as an invalid tracking link and has no effect", async () => {
  const { apiKey, as, id } = await addWorkspace();
  const email = newEmail();
  const { reference: shipment, tracking_url: url } = await bookAnd(service, apiKey, ["pay"], {
    recipient_email: email,
  });
  const mail = await mailAbout(email, "Your delivery is booked");
  const [, mac] = mail.headers["list-unsubscribe"]!.slice(1, -1).split("/unsubscribe/");
  const { tracking_url: other } = await book(service, apiKey, { recipient_email: email });
  const missing = await (await open(`${PUBLIC_URL}/t/nothing`)).text();
  const expectMissing = async (link: string) => {
    for (const method of ["GET", "POST"]) {
      const response = await open(link, { method });
      expect([response.status, await response.text()]).toEqual([404, missing]);
    }
  };
  await expectMissing(`${other}/unsubscribe/${mac}`);
  await expectMissing(`${url}/unsubscribe/${"A".repeat(22)}`);
  await data(as.updateShipment({ shipment, recipient_email: newEmail() }));
  await expectMissing(`${url}/unsubscribe/${mac}`);
  await data(as.updateShipment({ shipment, recipient_email: "" }));
  await expectMissing(`${url}/unsubscribe/${mac}`);
  const optOuts = await sql.query("select from recipient_opt_out where workspace_id = $1", [id]);
  expect(optOuts.rowCount).toBe(0);
});

test("sends up to 1,000 emails per workspace and hour, and shipments continue without further ones", async () => {
  const { apiKey, id } = await addWorkspace();
  await sql.query(
    `insert into recipient_notice (workspace_id, shipment_reference, kind, state, created_at, next_attempt_at)
     select $1, 'SHP-' || i, 'delivered', 'sent', now(), now() from generate_series(1, 995) i`,
    [id],
  );
  const replica = await startReplica(service.databaseUrl, { publicUrl: PUBLIC_URL });
  const payOn = async (paid: typeof service) => {
    const { reference } = await book(paid, apiKey, { recipient_email: newEmail() });
    return data(takeStep(paid, apiKey, reference, "pay"));
  };
  const shipments = await Promise.all(Array.from({ length: 20 }, (_, i) => payOn(i % 2 === 0 ? service : replica)));
  expect(new Set(shipments.map(({ status }) => status))).toEqual(new Set(["awaiting_pickup"]));
  const queued = await Promise.all(shipments.map(({ reference }) => mailsOf(reference)));
  expect(queued.flat()).toHaveLength(5);
});
