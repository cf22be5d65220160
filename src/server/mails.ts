import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import type { EntityManager } from "../db/orm.ts";
import type { Workers } from "../db/leased-queue.ts";
import { createSignInMailWorkers } from "../features/people/send-mails.ts";
import { createSmtpClient } from "../smtp/smtp-client.ts";
import type { Instruments } from "./instruments.ts";

interface MailsDeps extends Pick<Instruments, "countMailAttempt" | "countFailedMail"> {
  readonly em: EntityManager;
  readonly log: Logger;
  readonly config: Partial<Pick<Config, "mail" | "publicUrl">>;
  readonly outside: { readonly random?: () => number };
}

/** Builds what sends mails until the signal gives up attempts in flight. */
export type CreateMailWorkers = (givingUp: AbortSignal) => Workers;

/** Sets up the sending of mails; undefined where none are sent. */
export function createMails(deps: MailsDeps): CreateMailWorkers | undefined {
  const { em, log, config, outside } = deps;
  const { mail, publicUrl } = config;
  if (mail === undefined || publicUrl === undefined) return undefined;
  const smtp = createSmtpClient({ url: mail.smtpUrl, from: mail.from });
  const sending = {
    em,
    log,
    publicUrl,
    send: smtp.send,
    random: outside.random ?? Math.random,
    countAttempt: deps.countMailAttempt,
    countFailure: deps.countFailedMail,
  };
  return (givingUp) => createSignInMailWorkers(sending, givingUp);
}
