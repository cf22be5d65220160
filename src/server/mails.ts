import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { EntityManager } from "../db/orm.ts";
import type { LeasedQueue } from "../db/leased-queue.ts";
import { courierMail } from "../features/couriers/courier-mail.ts";
import { createCourierMailQueue } from "../features/couriers/send-courier-mails.ts";
import { createSignInMailQueue } from "../features/people/send-mails.ts";
import { createRecipientMailQueue, type SendRecipientMailsDeps } from "../features/recipients/send-recipient-mails.ts";
import { createSmtpClient } from "../smtp/smtp-client.ts";
import { recipientMail } from "../tracking/recipient-mail.ts";
import { LANGUAGES } from "../tracking/tracking-page.ts";
import { preferredLanguage } from "../transport/http/negotiation.ts";

interface MailsDeps {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly now: () => Date;
  readonly config: Partial<Pick<Config, "mail" | "publicUrl">>;
  readonly outside: { readonly random?: () => number };
}

/** Creates the email queues. The signal aborts attempts in flight. */
export type CreateMailQueues = (givingUp: AbortSignal) => readonly LeasedQueue[];

/** Returns the factory for the email queues, or `undefined` if email is not configured. */
export function createMails(deps: MailsDeps): CreateMailQueues | undefined {
  const { em, log, now, config, outside } = deps;
  const { mail, publicUrl } = config;
  if (mail === undefined || publicUrl === undefined) return undefined;
  const smtp = createSmtpClient({ url: mail.smtpUrl, from: mail.from });
  const sending: Omit<SendRecipientMailsDeps, "givingUp"> = {
    em,
    log,
    now,
    publicUrl,
    send: smtp.send,
    random: outside.random ?? Math.random,
    // Emails do not name the tariff zone.
    zoneAt: () => undefined,
    contentOf: (kind, tracked, own) =>
      recipientMail(kind, tracked, own, preferredLanguage(tracked.recipientLocale ?? "", LANGUAGES)),
  };
  return (givingUp) => [
    createSignInMailQueue({ ...sending, givingUp }),
    createRecipientMailQueue({ ...sending, givingUp }),
    createCourierMailQueue({
      ...sending,
      givingUp,
      contentOf: (due) => courierMail(due, preferredLanguage(due.locale ?? "", LANGUAGES).language),
    }),
  ];
}
