import { escapeHtml, isolatedHtml } from "../domain/escape-html.ts";
import { isolateText } from "../domain/isolate-text.ts";
import { mailButton, type MailContent, mailHeading, mailHtml, mailLink, mailParagraph } from "../domain/mail-html.ts";
import type { RecipientMailKind } from "../domain/shipment/recipient-mail.ts";
import { hasEnded } from "../domain/shipment/shipment-state.ts";
import type { TrackedShipment } from "../domain/shipment/tracked-shipment.ts";
import { TEXTS } from "./texts.ts";
import { contactLink, datesOf, plansOf, type Reader, timeZoneOf, timeZoneText } from "./tracking-page.ts";

/** Contents of an email that the page does not show. */
export interface RecipientMailExtras {
  readonly trackingUrl: string;
  readonly unsubscribeUrl: string;
  readonly pin: string | undefined;
}

/** Creates the email that informs a recipient about an event of a shipment. */
export function recipientMail(
  kind: RecipientMailKind,
  tracked: TrackedShipment,
  { trackingUrl, unsubscribeUrl, pin }: RecipientMailExtras,
  reader: Reader,
): MailContent {
  const texts = TEXTS[reader.language];
  const { mail } = texts;
  const { reference, workspace, status, reachedMs, failed } = tracked;
  const { contact } = workspace;
  const sender = isolateText(workspace.name);
  const timeZone = timeZoneOf(tracked);
  const dates = datesOf(reader, timeZone);
  const headlines = {
    ...texts.headline,
    awaiting_pickup: texts.headline.pending,
    at_dropoff: texts.atDoor,
    attempt_failed: mail.attempted,
  };
  const headline = headlines[kind];
  const endedMs = hasEnded(status) ? reachedMs[status] : undefined;
  const times = [
    ...(failed ? [`${texts.attempt[failed.reason]} (${dates.format(failed.atMs)})`] : []),
    ...plansOf(tracked, texts, dates),
    ...(endedMs === undefined ? [] : [`${texts.step[status]}: ${dates.format(endedMs)}`]),
  ];
  const pinLines = pin === undefined ? [] : [mail.pin(pin)];
  const known = `${texts.reference}: ${reference}`;
  const why = mail.why(sender);
  const zone = times.length === 0 ? [] : [timeZoneText(reader, timeZone)];
  const text = [
    [`${headline}.`, ...times, ...pinLines],
    [`${mail.follow}:`, trackingUrl],
    [known, ...(contact === undefined ? [] : [`${texts.contact} ${isolateText(contact)}`]), ...zone],
    [why, `${mail.stop}:`, unsubscribeUrl],
  ];
  return {
    subject: `${sender}: ${headline}`,
    text: text.map((lines) => `${lines.join("\n")}\n`).join("\n"),
    html: mailHtml(
      { language: reader.language, title: sender },
      mailParagraph(isolatedHtml(workspace.name)),
      mailHeading(headline),
      ...[...times, ...pinLines].map((line) => mailParagraph(escapeHtml(line))),
      mailButton(trackingUrl, mail.follow),
      mailParagraph(escapeHtml(known)),
      ...(contact === undefined
        ? []
        : [mailParagraph(`${escapeHtml(texts.contact)} <bdi>${contactLink(contact)}</bdi>`)]),
      ...zone.map((line) => mailParagraph(escapeHtml(line))),
      mailParagraph(`${escapeHtml(why)} ${mailLink(unsubscribeUrl, mail.stop)}`),
    ),
  };
}
