import { expect, test } from "vitest";
import { crc32 } from "node:zlib";
import { SAMPLE_PICTURES } from "../../../src/features/test-mode/sample-pictures.ts";
import { data, invalidFields } from "../../support/answers.ts";
import { book, bookAnd, BOOKING, takeStep, type Step } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { auditEntriesOf } from "../../support/audit.ts";
import { eventually } from "../../support/eventually.ts";
import { stopClock } from "../../support/stop-clock.ts";
import { HURRIED, startReplica, startService } from "../../support/service.ts";

const PUBLIC_URL = "https://book.example.org";
const DAY_MS = 24 * 60 * 60_000;

let nowMs = Date.parse("2026-11-02T12:00:00Z");
const service = await startService({
  publicUrl: PUBLIC_URL,
  now: () => new Date(nowMs),
  outside: HURRIED,
});
const sql = await connectTo(service.databaseUrl);

/** Requests a tracking page. */
async function open(url: string, headers: Record<string, string> = {}, at = service) {
  const path = url.replace(PUBLIC_URL, "");
  const response = await fetch(at.httpUrl + path, { headers });
  const html = await response.text();
  return { status: response.status, headers: response.headers, html, text: textOf(html) };
}

/** Returns the text lines of a page, without style and script. */
function textOf(html: string): string[] {
  const main = (/<main[^>]*>(.*)<\/main>/s.exec(html)?.[1] ?? "").replaceAll(/<\/?bdi>/g, "");
  const lines = main.replaceAll(/<[^>]*>/g, "\n").split("\n");
  return lines.map((line) => line.trim()).filter((line) => line !== "");
}

const INVALID_LINK = ["This link is no longer valid", "It has expired or was replaced. Ask the sender for a new link."];

test("every response and event about a shipment has its permanent tracking link", async () => {
  const { apiKey } = await service.addWorkspace();
  const as = service.as(apiKey);
  const { reference, tracking_url: url } = await book(service, apiKey);
  expect(url).toMatch(new RegExp(`^${PUBLIC_URL}/t/[0-9a-z]{8}-[\\w-]{22}-${reference.slice(4)}$`));
  const events = await data(as.listEvents());
  const [listed] = await data(as.listShipments());
  const got = await data(as.getShipment({ shipment: reference }));
  const changed = await data(takeStep(service, apiKey, reference, "pay"));
  const replica = await startReplica(service.databaseUrl, { publicUrl: PUBLIC_URL });
  const elsewhere = await data(replica.as(apiKey).getShipment({ shipment: reference }));
  const all = [events[0].data, listed, got, changed, elsewhere];
  expect(all.map(({ tracking_url }) => tracking_url)).toEqual(all.map(() => url));
});

test("a service without a public address has no links", async () => {
  const { apiKey } = await service.addWorkspace();
  const without = await startReplica(service.databaseUrl);
  expect((await book(without, apiKey)).tracking_url).toBeNull();
});

test.each<[readonly Step[], readonly string[]]>([
  [[], ["Your delivery is booked", "Booked"]],
  [["pay"], ["Your delivery is waiting for the courier", "Waiting for the courier"]],
  [
    ["pay", "advance"],
    ["Your delivery is on its way", "On its way"],
  ],
  [
    ["pay", "advance", "advance"],
    ["Your delivery has arrived", "Delivered"],
  ],
  [["cancel"], ["Your delivery was cancelled", "Cancelled"]],
  [
    ["pay", "cancel"],
    ["Your delivery was cancelled", "Cancelled"],
  ],
])("after %j the page shows the status and its time", async (steps, [headline, step]) => {
  const { apiKey } = await service.addWorkspace();
  const { tracking_url: url, reference } = await bookAnd(service, apiKey, steps);
  const { status, text, html } = await open(url);
  expect(status).toBe(200);
  expect(text.slice(0, 3)).toEqual(["Test", headline, "Progress"]);
  const current = /<li[^>]*aria-current="step"[^>]*><strong>(.*?)<\/strong><time datetime="(.*?)">/.exec(html);
  expect(current?.slice(1)).toEqual([step, "2026-11-02T12:00:00.000Z"]);
  expect(text).toContain("Monday, November 2 at 12:00 PM");
  expect(text.slice(-5)).toEqual(["Reference", reference, "Area", "Kings", "Times are in Coordinated Universal Time."]);
});

test("a shipment in transit shows the courier's first name and vehicle, the arrival and problems until its end", async () => {
  const { apiKey } = await service.addWorkspace();
  const as = service.as(apiKey);
  const { tracking_url: url, reference: shipment } = await bookAnd(service, apiKey, ["pay"]);
  const ada = {
    name: "Ada Byron",
    phone: "+12125550123",
    vehicle: "Cargo bike",
    external_id: "c-7",
  };
  await data(as.setCourier({ shipment, ...ada }));
  await data(as.reportProgress({ shipment, dropoff_eta: "2026-11-02T13:30:00Z" }));
  /** Returns the heading above the steps and the first fact below them. */
  const readPage = async () => {
    const { text, html } = await open(url);
    for (const hidden of ["Byron", "5550123", "c-7"]) expect(html).not.toContain(hidden);
    const fact = text.slice(text.lastIndexOf("Delivered") + 1).slice(0, 2);
    return [...text.slice(1, text.indexOf("Progress")), ...fact];
  };
  const none = ["Reference", shipment];
  const expected = "Expected Monday, November 2 at 1:30 PM";
  expect(await readPage()).toEqual(["Your delivery is waiting for the courier", expected, ...none]);
  await takeStep(service, apiKey, shipment, "advance");
  const courier = ["Courier", "Ada · Cargo bike"];
  expect(await readPage()).toEqual(["Your delivery is on its way", expected, ...courier]);
  await as.reportPlaces({ places: [{ shipment, lat: 40.69, lng: -73.95 }] });
  expect(await readPage()).toEqual([
    "Your delivery is on its way",
    expected,
    "Courier",
    "Ada · Cargo bike · about 1.4 km away",
  ]);
  await data(as.reportProgress({ shipment, stage: "at_dropoff" }));
  expect(await readPage()).toEqual(["Your courier is at the door", ...courier]);
  await data(as.recordAttempt({ shipment, reason: "nobody_there", note: "Dog" }));
  const sql = await connectTo(service.databaseUrl);
  await sql.query("update courier_place set measured_at = $2 where shipment_reference = $1", [
    shipment,
    new Date(Date.now() - 15 * 60_000),
  ]);
  const failed = "No one was there to accept it (Monday, November 2 at 12:00 PM)";
  expect(await readPage()).toEqual(["Your delivery is on its way", failed, ...courier]);
  await data(as.updateWorkspace({ tracking_shows_courier: false }));
  expect(await readPage()).toEqual(["Your delivery is on its way", failed, ...none]);
  await data(as.returnShipment({ shipment }));
  const { text } = await open(url);
  expect(text.slice(1, 3)).toEqual(["Your delivery was returned to the sender", "Progress"]);
  expect(text.indexOf("Returned")).toBeGreaterThan(text.indexOf("On its way"));
  expect(text).not.toContain("Delivered");
});

test("the page hides fields for senders and couriers, and leaks nothing to other sites", async () => {
  const { apiKey } = await service.addWorkspace();
  const { tracking_url: url, total } = await book(service, apiKey, {
    metadata: { floor: "third" },
  });
  const { html, headers } = await open(url);
  const { customer_name, customer_email, pickup_address, dropoff_address } = BOOKING;
  for (const hidden of [customer_name, customer_email, pickup_address, dropoff_address, "third"]) {
    expect(html).not.toContain(hidden);
  }
  expect(html).not.toContain(String(total));
  expect(Buffer.byteLength(html)).toBeLessThan(30_000);
  expect(Object.fromEntries(headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "private, no-store",
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex, nofollow",
    "x-content-type-options": "nosniff",
    "content-security-policy": expect.stringMatching(
      /^default-src 'none'; style-src 'sha256-.{44}'; script-src 'sha256-.{44}'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'self'$/,
    ),
  });
  expect(headers.get("set-cookie")).toBeNull();
});

test("a page shows only the logo of its workspace, until it is removed", async () => {
  const { apiKey, twin } = await service.addWorkspace();
  const as = service.as(apiKey);
  const { tracking_url: url } = await book(service, twin.apiKey);
  const logo = SAMPLE_PICTURES.signature.toString("base64");
  const padded = (bytes: number) => {
    const text = Buffer.concat([Buffer.from("tEXtAuthor\0"), Buffer.alloc(bytes, "x")]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(text.length - 4);
    ends.writeUInt32BE(crc32(text), 4);
    const { signature } = SAMPLE_PICTURES;
    const chunk = [ends.subarray(0, 4), text, ends.subarray(4)];
    return Buffer.concat([signature.subarray(0, 33), ...chunk, signature.subarray(33)]);
  };
  const set = (tracking_logo: string) => as.updateWorkspace({ tracking_logo });
  const image = `<img class="logo" alt="" src="data:image/png;base64,${logo}">`;
  expect((await data(set(padded(40_000).toString("base64")))).tracking_logo).toBe(logo);
  expect((await open(url)).html).toContain(image);
  expect(await invalidFields(set(SAMPLE_PICTURES.photo.toString("base64")))).toEqual(["tracking_logo"]);
  expect((await data(as.getWorkspace())).tracking_logo).toBe(logo);
  expect((await data(set(""))).tracking_logo).toBeNull();
  expect((await open(url)).html).not.toContain("<img");
});

/** Requests a tracking page with the last digits of the recipient's phone number. */
async function openBy(url: string, digits: string, at = service) {
  return postOpen(url, { digits }, at);
}

async function postOpen(url: string, fields: Record<string, string>, at = service) {
  const path = `${url.replace(PUBLIC_URL, "")}/open`;
  const body = new URLSearchParams(fields);
  const response = await fetch(at.httpUrl + path, { method: "POST", body });
  const html = await response.text();
  return { status: response.status, html, text: textOf(html) };
}

const IN_FULL = { recipient_phone: "+12025550123", dropoff_address: "95 Prospect Park West" };

test("the recipient's last phone digits open the address, and the photo after the delivery", async () => {
  const { apiKey } = await service.addWorkspace();
  const as = service.as(apiKey);
  const moving = await bookAnd(service, apiKey, ["pay", "advance"], IN_FULL);
  const { tracking_url: url, reference: shipment } = moving;
  await data(as.recordProof({ shipment, photo: SAMPLE_PICTURES.photo.toString("base64") }));
  const address = ["Address", IN_FULL.dropoff_address];
  const shown = await open(url);
  expect(shown.html).toContain(`<form method="post" action="${new URL(url).pathname}/open">`);
  expect(shown.text).not.toContain("Address");
  const opened = await openBy(url, " 0123 ");
  expect(opened.status).toBe(200);
  const without = (lines: string[], term: string) => lines.toSpliced(lines.indexOf(term), 2);
  expect(without(opened.text, "Address")).toEqual(without(shown.text, "Area"));
  expect(opened.text).toEqual(expect.arrayContaining(address));
  expect(opened.html).not.toContain("data:image/jpeg");
  await takeStep(service, apiKey, shipment, "advance");
  const { html, text } = await openBy(url, "0123");
  expect(text).toEqual(expect.arrayContaining(address));
  expect(html).toContain(`data:image/jpeg;base64,${SAMPLE_PICTURES.photo.toString("base64")}`);
  const back = await fetch(service.httpUrl + new URL(url).pathname + "/open", {
    redirect: "manual",
  });
  expect([back.status, back.headers.get("location")]).toEqual([303, new URL(url).pathname]);
});

test("five wrong entries per shipment are possible, even if concurrent and on several replicas, and no more", async () => {
  const { apiKey } = await service.addWorkspace();
  const replica = await startReplica(service.databaseUrl, { publicUrl: PUBLIC_URL });
  const { tracking_url: url, reference: shipment } = await bookAnd(service, apiKey, ["pay"], IN_FULL);
  const alertOf = ({ html }: { html: string }) => /role="alert">(.*?)</.exec(html)?.[1];
  const guesses = ["0000", "", "55550123", "012", "1234", "4321", "9999"];
  const answers = await Promise.all(guesses.map((digits, i) => openBy(url, digits, i % 2 === 0 ? service : replica)));
  const wrong = (left: string) => `Those digits don’t match. You have ${left} left.`;
  const locked = "No tries are left. Please ask the sender.";
  const tries = ["4 tries", "3 tries", "2 tries", "1 try"].map(wrong);
  expect(answers.map(alertOf)).toHaveLength(7);
  expect(answers.map(alertOf)).toEqual(expect.arrayContaining([...tries, locked]));
  for (const { text } of answers) expect(text).not.toContain("Address");
  const late = await openBy(url, "0123");
  expect([alertOf(late), late.html.includes("<form")]).toEqual([locked, false]);
  await data(service.as(apiKey).updateShipment({ shipment, recipient_phone: "+12025559876" }));
  expect((await openBy(url, "9876")).text).toContain("Address");
  const other = await bookAnd(service, apiKey, ["pay"], IN_FULL);
  for (let i = 0; i < 7; i++) {
    expect((await openBy(other["tracking_url"], "0123")).text).toContain("Address");
  }
});

test("accepts thirty concurrent entries with the right digits", async () => {
  const { apiKey } = await service.addWorkspace();
  const { tracking_url: url } = await bookAnd(service, apiKey, ["pay"], IN_FULL);
  const answers = await Promise.all(Array.from({ length: 30 }, () => openBy(url, "0123")));
  const statuses = new Set(answers.map(({ status }) => status));
  expect([...statuses]).toEqual([200]);
  expect(answers.filter(({ text }) => text.includes("Address"))).toHaveLength(30);
});

test("an opened page can be opened again without digits, until the phone number changes", async () => {
  const { apiKey } = await service.addWorkspace();
  const { tracking_url: url, reference: shipment } = await bookAnd(service, apiKey, ["pay"], IN_FULL);
  const recipientOf = ({ html }: { html: string }) => /<script data-recipient="(.{22})">/.exec(html)?.[1];
  const recipient = recipientOf(await openBy(url, "0123"))!;
  for (let i = 0; i < 5; i++) await openBy(url, "9999");
  const again = await postOpen(url, { recipient });
  expect(again.text).toContain("Address");
  expect(recipientOf(again)).toBe(recipient);
  const { tracking_url: other } = await bookAnd(service, apiKey, ["pay"], IN_FULL);
  expect((await postOpen(other, { recipient })).text).not.toContain("Address");
  await data(service.as(apiKey).updateShipment({ shipment, recipient_phone: "+12025559876" }));
  for (let i = 0; i < 6; i++) {
    expect((await postOpen(url, { recipient })).text).not.toContain("Address");
  }
  expect((await openBy(url, "9876")).text).toContain("Address");
});

const instructionsOf = ({ html }: { html: string }) => /<textarea[^>]*>(.*?)<\/textarea>/s.exec(html)?.[1];
const alertOf = ({ html }: { html: string }) => /role="alert">(.*?)</.exec(html)?.[1];
const SAVED = "Your instructions are saved.";
const CLOSED = "The instructions can no longer be changed here. Please ask the sender.";

test("anyone with the link sees the items, and only the recipient sees and changes the instructions", async () => {
  const { apiKey, id } = await service.addWorkspace();
  const as = service.as(apiKey);
  const items = [
    { name: "Tea <green>", quantity: 2 },
    { name: "Cake", quantity: 1 },
  ];
  const fields = { ...IN_FULL, items, dropoff_instructions: "Ring & wait" };
  const { tracking_url: url, reference: shipment } = await book(service, apiKey, fields);
  const shown = await open(url);
  expect(shown.text).toEqual(expect.arrayContaining(["Contents", "2 × Tea &lt;green&gt;", "1 × Cake"]));
  expect([shown.html.includes("Ring"), instructionsOf(shown)]).toEqual([false, undefined]);
  const opened = await openBy(url, "0123");
  expect(instructionsOf(opened)).toBe("Ring &amp; wait");
  const recipient = /name="recipient" value="(.{22})"/.exec(opened.html)![1]!;
  const before = await data(as.getShipment({ shipment }));

  // Neither digits nor another MAC allows a change.
  const forged: Record<string, string>[] = [{ digits: "0123" }, { recipient: "" }, { recipient: "x".repeat(22) }];
  for (const proof of forged) {
    const refused = await postOpen(url, { ...proof, instructions: "Stolen" });
    expect([refused.status, instructionsOf(refused), alertOf(refused)]).toEqual([200, undefined, undefined]);
  }
  const long = await postOpen(url, { recipient, instructions: "x".repeat(501) });
  expect(alertOf(long)).toBe("Use at most 500 characters.");
  expect(await data(as.getShipment({ shipment }))).toEqual(before);

  const written = "😀".repeat(250) + "\r\n" + "é".repeat(248);
  const text = written.replace("\r", "");
  const saved = await postOpen(url, { recipient, instructions: ` ${written} ` });
  expect([alertOf(saved), instructionsOf(saved)]).toEqual([SAVED, text]);
  const changed = { ...before, dropoff_instructions: text, etag: "2", updated_at: expect.any(String) };
  expect(await data(as.getShipment({ shipment }))).toEqual(changed);
  const event = (await data(as.listShipmentEvents({ shipment }))).at(-1);
  expect(event).toMatchObject({ type: "shipment.updated", actor: null, api_key: null, data: changed });
  expect((await auditEntriesOf(service, id)).filter((entry) => entry.subject === `shipment/${shipment}`)).toEqual([
    {
      actor: "service",
      actor_name: "Recipient",
      operator_id: null,
      action: "ChangeInstructions",
      subject: `shipment/${shipment}`,
      changes: [{ field: "recipient_edits", before: "0", after: "1" }],
      request_id: null,
    },
  ]);
});

test("a recipient can change the instructions five times, even concurrently, and only before the pickup", async () => {
  const { apiKey } = await service.addWorkspace();
  const as = service.as(apiKey);
  const recipientOf = ({ html }: { html: string }) => /name="recipient" value="(.{22})"/.exec(html)![1]!;
  const { tracking_url: url, reference: shipment } = await bookAnd(service, apiKey, ["pay"], IN_FULL);
  const recipient = recipientOf(await openBy(url, "0123"));
  const again = await Promise.all([1, 2].map(() => postOpen(url, { recipient, instructions: "Once" })));
  expect(again.map(alertOf)).toEqual([SAVED, SAVED]);
  const texts = ["1", "2", "3", "4", "5", "6"];
  const answers = await Promise.all(texts.map((instructions) => postOpen(url, { recipient, instructions })));
  const alerts = answers.map(alertOf);
  expect([SAVED, CLOSED].map((alert) => alerts.filter((it) => it === alert).length)).toEqual([4, 2]);
  expect(instructionsOf(await postOpen(url, { recipient }))).toBeUndefined();
  await data(as.updateShipment({ shipment, dropoff_instructions: "By the sender" }));
  expect((await postOpen(url, { recipient })).text).toContain("By the sender");

  const other = await bookAnd(service, apiKey, ["pay"], IN_FULL);
  const mac = recipientOf(await openBy(other["tracking_url"], "0123"));
  await takeStep(service, apiKey, other["reference"], "advance");
  const late = await postOpen(other["tracking_url"], { recipient: mac, instructions: "Too late" });
  expect([alertOf(late), instructionsOf(late)]).toEqual([CLOSED, undefined]);
  expect(await data(as.getShipment({ shipment: other["reference"] }))).toMatchObject({ dropoff_instructions: null });
});

test("a link cannot be opened with digits if it is invalid or the phone number is unknown", async () => {
  const { apiKey } = await service.addWorkspace();
  const { tracking_url: url } = await bookAnd(service, apiKey, ["pay"]);
  expect((await open(url)).html).not.toContain("<form");
  for (const link of [url, url.replace(/.$/, "0"), `${PUBLIC_URL}/t/nothing`]) {
    const { status, text } = await openBy(link, "0123");
    expect({ status, text }).toEqual({ status: 404, text: INVALID_LINK });
  }
  const large = await openBy(url, "0".repeat(9_000));
  expect(large.status).toBe(413);
});

test("an unchanged page is not sent again, and reading it changes nothing", async () => {
  const { apiKey } = await service.addWorkspace();
  const { tracking_url: url, reference } = await book(service, apiKey);
  const { headers } = await open(url);
  const tag = headers.get("etag")!;
  const again = await open(url, { "if-none-match": tag });
  expect([again.status, again.html]).toEqual([304, ""]);
  await takeStep(service, apiKey, reference, "pay");
  const changed = await open(url, { "if-none-match": tag });
  expect([changed.status, changed.text[1]]).toEqual([200, "Your delivery is waiting for the courier"]);
  expect((await fetch(service.httpUrl + new URL(url).pathname, { method: "POST" })).status).toBe(405);
  const events = await data(service.as(apiKey).listEvents());
  expect(events.map(({ type }: { type: string }) => type)).toEqual([
    "shipment.created",
    "shipment.paid",
    "shipment.awaiting_pickup",
  ]);
});

test.each([
  ["de-AT, en;q=0.5", "de", "Ihre Lieferung ist gebucht", "Montag, 2. November um 12:00"],
  ["pl, es;q=0.9, en;q=0.1", "es", "Su envío está reservado", "lunes, 2 de noviembre, 12:00"],
  ["fr", "fr", "Votre livraison est enregistrée", "lundi 2 novembre à 12:00"],
  ["en-GB, de;q=0.5", "en", "Your delivery is booked", "Monday 2 November at 12:00"],
  ["en-x-nonsense-" + "y".repeat(500), "en", "Your delivery is booked", "Monday, November 2 at 12:00 PM"],
  ["pl", "en", "Your delivery is booked", "Monday, November 2 at 12:00 PM"],
])("a reader with %s gets the page in %s", async (accepted, language, headline, time) => {
  const { apiKey } = await service.addWorkspace();
  const { tracking_url: url } = await book(service, apiKey);
  const { html, text } = await open(url, { "accept-language": accepted });
  expect(html).toContain(`<html lang="${language}">`);
  expect(text).toEqual(expect.arrayContaining([headline, time]));
  const { status, html: gone } = await open(`${url}A`, { "accept-language": accepted });
  expect([status, gone.includes(`<html lang="${language}">`)]).toEqual([404, true]);
});

test("a browser without a supported language gets the recipient's language", async () => {
  const { apiKey } = await service.addWorkspace();
  const { tracking_url: url } = await book(service, apiKey, { recipient_locale: "de-CH" });
  const languages = ["pl", "pl, fr;q=0.1", ""].map(async (accepted) => {
    const { html } = await open(url, { "accept-language": accepted });
    return /<html lang="(..)">/.exec(html)![1];
  });
  expect(await Promise.all(languages)).toEqual(["de", "fr", "de"]);
});

test("shows a shipment's windows in their time zone, and whether it is late", async () => {
  const { apiKey } = await service.addWorkspace();
  const { tracking_url: url, reference } = await bookAnd(service, apiKey, ["pay"]);
  const window = (start: string, end: string) => ({
    start,
    end,
    timeZone: "America/New_York",
    feeMinor: 0,
  });
  const windows = {
    pickup: window("2026-11-02T14:00:00.000Z", "2026-11-02T15:00:00.000Z"),
    dropoff: window("2026-11-02T19:00:00.000Z", "2026-11-02T21:00:00.000Z"),
  };
  await sql.query("update shipment set windows = $2 where reference = $1", [reference, windows]);
  const readPage = async (at: string) => {
    nowMs = Date.parse(at);
    return (await open(url)).text.filter((line) => /^(Courier pickup:|Delivery:|Later|Times)/.test(line));
  };
  const zone = "Times are in Eastern Time.";
  const pickup = "Courier pickup: Monday, November 2, 9:00 – 10:00 AM";
  const delivery = "Delivery: Monday, November 2, 2:00 – 4:00 PM";
  const plain = async (at: string) => (await readPage(at)).map((line) => line.replaceAll(/[\u2009\u202f]/g, " "));
  expect(await plain("2026-11-02T14:59:00Z")).toEqual([pickup, delivery, zone]);
  expect(await plain("2026-11-02T15:00:01Z")).toEqual([pickup, delivery, "Later than planned", zone]);
  await takeStep(service, apiKey, reference, "advance");
  expect(await plain("2026-11-02T20:59:00Z")).toEqual([delivery, zone]);
  expect(await plain("2026-11-02T21:00:01Z")).toEqual([delivery, "Later than planned", zone]);
  await takeStep(service, apiKey, reference, "advance");
  expect(await plain("2026-11-03T21:00:00Z")).toEqual([zone]);
});

test.each([
  ["+49 30 123456", '<a href="tel:+4930123456">+49 30 123456</a>'],
  ["help@example.org", '<a href="mailto:help@example.org">help@example.org</a>'],
  ["https://example.org/help", '<a href="https://example.org/help" rel="noreferrer">https://example.org/help</a>'],
  ['<b>Ada</b> & "co"', "&lt;b&gt;Ada&lt;/b&gt; &amp; &quot;co&quot;"],
  ["javascript:alert(1)", "javascript:alert(1)"],
])("a workspace can set its contact: %s", async (contact, shown) => {
  const { apiKey, twin } = await service.addWorkspace();
  const { updateWorkspace } = service.as(apiKey);
  expect((await data(updateWorkspace({ tracking_contact: contact }))).tracking_contact).toBe(contact);
  for (const key of [apiKey, twin.apiKey]) {
    const { html } = await open((await book(service, key)).tracking_url);
    expect(html).toContain(`<dt>Questions?</dt><dd dir="auto">${shown}</dd>`);
  }
  expect((await data(updateWorkspace({ tracking_contact: "" }))).tracking_contact).toBeNull();
});

test("the page of a shipment in test mode is marked as a test", async () => {
  const { twin } = await service.addWorkspace();
  const { tracking_url: url } = await book(service, twin.apiKey);
  expect((await open(url)).text[0]).toBe("This is a test: nothing is delivered.");
});

test("texts entered by users do not affect the direction of other text", async () => {
  const { apiKey, id } = await service.addWorkspace();
  const as = service.as(apiKey);
  await sql.query("update workspace set name = $2, tracking_contact = $3 where id = $1", [
    id,
    "متجر \u202e<b>",
    "שלום 12",
  ]);
  const moving = await bookAnd(service, apiKey, ["pay", "advance"], IN_FULL);
  const { tracking_url: url, reference: shipment } = moving;
  await data(as.setCourier({ shipment, name: "עדה", vehicle: "دراجة" }));
  const { html } = await openBy(url, "0123");
  for (const part of [
    '<p class="sender"><bdi>متجر \u202e&lt;b&gt;</bdi></p>',
    '<dd dir="auto">שלום 12</dd>',
    '<dd dir="auto"><bdi>עדה</bdi> · <bdi>دراجة</bdi></dd>',
    `<dd dir="auto"><bdi>${IN_FULL.dropoff_address}</bdi></dd>`,
    "<title>Your delivery from \u2068متجر &lt;b&gt;\u2069</title>",
  ]) {
    expect(html).toContain(part);
  }
});

test("a link works with trailing punctuation from a message", async () => {
  const { apiKey } = await service.addWorkspace();
  const { tracking_url: url } = await bookAnd(service, apiKey, ["pay"], IN_FULL);
  const ends = [".", ",", ")", ").", "/", "!", "%29", "%E2%80%9D.", "*", "'", ">", ";", "…"];
  for (const end of ends) {
    const { status, text } = await open(url + end);
    expect([end, status, text[1]]).toEqual([end, 200, "Your delivery is waiting for the courier"]);
  }
  expect((await openBy(`${url}.`, "0123")).text).toContain("Address");
  const followed = await fetch(`${service.httpUrl}${new URL(url).pathname}./events`);
  expect(followed.status).toBe(200);
  await followed.body!.cancel();
});

test("a link expires 30 days after its shipment, and then responds as an invalid link", async () => {
  nowMs = Date.parse("2026-11-02T12:00:00Z");
  const { apiKey } = await service.addWorkspace();
  const { tracking_url: url } = await bookAnd(service, apiKey, ["cancel"]);
  const { tracking_url: other } = await book(service, apiKey);
  nowMs += 30 * DAY_MS;
  expect((await open(url)).status).toBe(200);
  nowMs += 1_000;
  const ended = await open(url);
  expect([ended.status, ended.text]).toEqual([404, INVALID_LINK]);
  const [slug, mac, digits] = new URL(url).pathname.slice("/t/".length).split(/-(.{22})-/);
  const otherDigits = other.slice(-12);
  for (const path of [
    "",
    "/",
    "nothing",
    `${slug}-${mac}-${otherDigits}`,
    `zzzzzzzz-${mac}-${digits}`,
    `${slug}-${mac}-000000000000`,
    `${slug}-${mac}-${digits}%00`,
    "x".repeat(5_000),
  ]) {
    const { status, html } = await open(`/t/${path}`);
    expect([status, html === ended.html]).toEqual([404, true]);
  }
  nowMs = Date.parse("2026-11-02T12:00:00Z");
});

test("links stop working while they are disabled or the workspace is suspended, and when they are replaced", async () => {
  const workspace = await service.addWorkspace();
  const { apiKey, id, twin } = workspace;
  const as = service.as(apiKey);
  const operator = service.as((await service.addOperator()).key);
  const { tracking_url: url, reference } = await book(service, apiKey);
  const { tracking_url: ofTest } = await book(service, twin.apiKey);
  const statuses = async () => [(await open(url)).status, (await open(ofTest)).status];
  const linkIs = (wanted: (link: string | null) => boolean) =>
    eventually("the link to change", async () =>
      wanted((await data(as.getShipment({ shipment: reference }))).tracking_url),
    );
  expect(await statuses()).toEqual([200, 200]);
  await data(as.updateWorkspace({ tracking_enabled: false }));
  expect(await statuses()).toEqual([404, 404]);
  await linkIs((link) => link === null);
  await data(as.updateWorkspace({ tracking_enabled: true }));
  await linkIs((link) => link === url);
  await operator.suspendWorkspace({ workspace: id });
  expect(await statuses()).toEqual([404, 404]);
  await operator.resumeWorkspace({ workspace: id });
  await eventually("the key to work", async () => (await as.getWorkspace()).status === 200);
  expect((await data(as.rotateTrackingLinks())).tracking_enabled).toBe(true);
  expect(await statuses()).toEqual([404, 200]);
  await linkIs((link) => link !== url);
  const { tracking_url: next } = await data(as.getShipment({ shipment: reference }));
  expect((await open(next)).status).toBe(200);
  const entries = await auditEntriesOf(service, id);
  const last = entries.at(-1)!;
  expect([last.action, last.changes]).toEqual([
    "RotateTrackingLinks",
    [
      {
        field: "slug",
        before: new URL(url).pathname.slice(3, 11),
        after: new URL(next).pathname.slice(3, 11),
      },
    ],
  ]);
});

test("requesting a page too often returns an error page with a retry delay", async () => {
  stopClock();
  const own = await startReplica(service.databaseUrl, { publicUrl: PUBLIC_URL });
  const { apiKey } = await own.addWorkspace();
  const { tracking_url: url } = await book(own, apiKey);
  const pages = await Promise.all(Array.from({ length: 150 }, () => open(url, { "accept-language": "de" }, own)));
  const busy = pages.find(({ status }) => status === 429)!;
  expect(busy.text[0]).toBe("Bitte versuchen Sie es gleich noch einmal");
  expect(Object.fromEntries(busy.headers)).toMatchObject({
    "retry-after": "1",
    "content-type": "text/html; charset=utf-8",
    "referrer-policy": "no-referrer",
    "cache-control": "private, no-store",
  });
  expect((await open((await book(own, apiKey)).tracking_url, {}, own)).status).toBe(200);
});

test("limits an address that requests many invalid links, while links opened before still work", async () => {
  stopClock();
  const own = await startReplica(service.databaseUrl, { publicUrl: PUBLIC_URL });
  const { apiKey } = await own.addWorkspace();
  const { tracking_url: url } = await book(own, apiKey);
  expect((await open(url, {}, own)).status).toBe(200);
  const statuses: number[] = [];
  for (let i = 0; i < 200 && !statuses.includes(429); i++) {
    statuses.push((await open(`/t/${i}`, {}, own)).status);
  }
  expect(statuses.slice(0, 60)).toEqual(Array.from({ length: 60 }, () => 404));
  expect(statuses).toContain(429);
  expect((await open(url, {}, own)).status).toBe(200);
});
