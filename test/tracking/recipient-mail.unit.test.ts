import { expect, test } from "vitest";
import { RECIPIENT_MAIL_KINDS, type RecipientMailKind } from "../../src/domain/shipment/recipient-mail.ts";
import type { TrackedShipment } from "../../src/domain/shipment/tracked-shipment.ts";
import { recipientMail } from "../../src/tracking/recipient-mail.ts";
import { LANGUAGES } from "../../src/tracking/tracking-page.ts";
import { at, TRACKED } from "./tracked.ts";

const OWN = {
  trackingUrl: "https://book.example.org/t/link",
  unsubscribeUrl: "https://book.example.org/t/link/unsubscribe/mac",
  pin: undefined,
};
const inEnglish = { language: "en", locale: "en" } as const;
const plain = (text: string) => text.replaceAll(/[\u2009\u202f]/g, " ");

test("an email states the event, the delivery time, the contact and how to unsubscribe", () => {
  const { subject, text, html } = recipientMail("in_transit", TRACKED, { ...OWN, pin: "0421" }, inEnglish);
  expect(subject).toBe("Acme <b> & Sons: Your delivery is on its way");
  expect(plain(text)).toBe(`Your delivery is on its way.
Expected Monday, November 2 at 2:30 PM
Delivery: Monday, November 2, 2:00 – 4:00 PM
Tell the courier this PIN: 0421

Track your delivery:
https://book.example.org/t/link

Reference: SHP-0123456789AB
Questions? help@example.org
Times are in Eastern Time.

You’re receiving this email because Acme <b> & Sons is delivering a parcel to you.
Unsubscribe:
https://book.example.org/t/link/unsubscribe/mac
`);
  for (const part of [
    "Acme &lt;b&gt; &amp; Sons",
    "Tell the courier this PIN: 0421",
    `href="${OWN.trackingUrl}"`,
    `href="${OWN.unsubscribeUrl}"`,
    'href="mailto:help@example.org"',
  ])
    expect(html).toContain(part);
  expect(html).not.toMatch(/<b>|<img|<script|<link|url\(|@import/);
});

test("right-to-left names and contacts do not reverse the email", () => {
  const workspace = { ...TRACKED.workspace, name: "متجر\u2069", contact: "שלום" };
  const { subject, text, html } = recipientMail("in_transit", { ...TRACKED, workspace }, OWN, inEnglish);
  expect(subject).toBe("\u2068متجر\u2069: Your delivery is on its way");
  expect(text).toContain("Questions? \u2068שלום\u2069\n");
  expect(text).toContain("because \u2068متجر\u2069 is delivering a parcel to you.");
  expect(html).toContain("<bdi>متجر\u2069</bdi>");
  expect(html).toContain("Questions? <bdi>שלום</bdi>");
});

test.each<[RecipientMailKind, Partial<TrackedShipment>, string]>([
  [
    "attempt_failed",
    {
      failed: { atMs: at("20:00"), reason: "nobody_there" },
      etas: { pickup: null, dropoff: null },
    },
    `Your delivery could not be handed over.
No one was there to accept it (Monday, November 2 at 3:00 PM)
Delivery: Monday, November 2, 2:00 – 4:00 PM`,
  ],
  [
    "delivered",
    { status: "delivered", reachedMs: { delivered: at("20:00") } },
    `Your delivery has arrived.
Delivered: Monday, November 2 at 3:00 PM`,
  ],
])("the email %s has the time and the reason", (kind, fields, beginning) => {
  const { text } = recipientMail(kind, { ...TRACKED, ...fields }, OWN, inEnglish);
  expect(plain(text).split("\n\n")[0]).toBe(beginning);
});

test("each kind has its own text in each language", () => {
  const mails = LANGUAGES.flatMap((language) =>
    RECIPIENT_MAIL_KINDS.map((kind) => recipientMail(kind, TRACKED, OWN, { language, locale: language })),
  );
  const count = LANGUAGES.length * RECIPIENT_MAIL_KINDS.length;
  expect(new Set(mails.map(({ subject }) => subject)).size).toBe(count);
  const endings = mails.map(({ text }) => text.split("\n\n").slice(1).join());
  expect(new Set(endings).size).toBe(LANGUAGES.length);
  for (const { text, html } of mails) {
    for (const hidden of ["Ada", "Cargo", "Kings", "1.2", "1,2"]) expect(text + html).not.toContain(hidden);
  }
});
