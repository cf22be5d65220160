import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { EntityManager } from "../db/orm.ts";
import type { Workers } from "../db/leased-queue.ts";
import { createSignInMailWorkers } from "../features/people/send-mails.ts";
import {
  createRecipientMailWorkers,
  type SendRecipientMailsDeps,
} from "../features/recipients/send-recipient-mails.ts";
import { createSmtpClient } from "../smtp/smtp-client.ts";
import { recipientMail } from "../tracking/recipient-mail.ts";
import { LANGUAGES } from "../tracking/tracking-page.ts";
import { preferredLanguage } from "../transport/http/negotiation.ts";
import type { Instruments } from "./instruments.ts";

interface MailsDeps extends Pick<Instruments, "countMailAttempt" | "countFailedMail"> {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly now: () => Date;
  readonly config: Partial<Pick<Config, "mail" | "publicUrl">>;
  readonly outside: { readonly random?: () => number };
}

/** Creates the email workers. The signal aborts attempts in flight. */
export type CreateMailWorkers = (givingUp: AbortSignal) => readonly Workers[];

/** Returns the factory for the email workers, or `undefined` if email is not configured. */
export function createMails(deps: MailsDeps): CreateMailWorkers | undefined {
  const { em, log, now, config, outside } = deps;
  const { mail, publicUrl } = config;
  if (mail === undefined || publicUrl === undefined) return undefined;
  const smtp = createSmtpClient({ url: mail.smtpUrl, from: mail.from });
  const sending: SendRecipientMailsDeps = {
    em,
    log,
    now,
    publicUrl,
    send: smtp.send,
    random: outside.random ?? Math.random,
    countAttempt: deps.countMailAttempt,
    countFailure: deps.countFailedMail,
    // Emails to recipients mention no time zone.
    zoneAt: () => undefined,
    contentOf: (kind, tracked, own) =>
      recipientMail(kind, tracked, own, preferredLanguage(tracked.recipientLocale ?? "", LANGUAGES)),
  };
  return (givingUp) => [createSignInMailWorkers(sending, givingUp), createRecipientMailWorkers(sending, givingUp)];
}
