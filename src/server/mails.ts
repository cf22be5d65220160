import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { EntityManager } from "../db/orm.ts";
import { sendMails, type Mails } from "../features/people/send-mails.ts";
import { createSmtpClient } from "../smtp/smtp-client.ts";
import type { Instruments } from "./instruments.ts";

/** What the mails of one process need. */
interface MailsDeps extends Pick<Instruments, "countMailAttempt" | "countFailedMail"> {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly config: Partial<Pick<Config, "mail" | "publicUrl">>;
  readonly outside: { readonly random?: () => number };
}

/** Builds the sending of mails; undefined where none are sent. Nothing is started yet. */
export function createMails(deps: MailsDeps): Mails | undefined {
  const { em, log, config, outside } = deps;
  const { mail, publicUrl } = config;
  if (mail === undefined || publicUrl === undefined) return undefined;
  const smtp = createSmtpClient({ url: mail.smtpUrl, from: mail.from });
  return sendMails({
    em,
    log,
    publicUrl,
    send: smtp.send,
    random: outside.random ?? Math.random,
    countAttempt: deps.countMailAttempt,
    countFailure: deps.countFailedMail,
  });
}
