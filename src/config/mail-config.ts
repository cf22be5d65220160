import { z } from "zod";
import { ConfigError, SECRET } from "./tracing-config.ts";

/** How mails are sent. */
export interface MailConfig {
  /** The mail server, `smtp://` or `smtps://`, with user and password if it wants them. */
  readonly smtpUrl: string;
  /** From whom mails come: an address, or a name with an address in angle brackets. */
  readonly from: string;
}

/** An address, or a name with an address in angle brackets. */
const FROM = /^(?:[^\s<>@,;]+@[^\s<>@,;]+|[^<>@,;\r\n]*<[^\s<>@,;]+@[^\s<>@,;]+>)$/;

/** The variables of mails. */
export const MAIL_VARIABLES = {
  SMTP_URL: z
    .string()
    .refine(isSmtpUrl, {
      error: "must be an address such as smtps://user:password@smtp.example.org:465",
    })
    .optional()
    .meta(SECRET),
  MAIL_FROM: z
    .string()
    .trim()
    .regex(FROM, {
      error: "must be an address such as Shipments <no-reply@example.org>",
    })
    .optional(),
};

/** What decides how mails are sent. */
interface MailVariables {
  readonly SMTP_URL?: string | undefined;
  readonly MAIL_FROM?: string | undefined;
  readonly PUBLIC_URL?: string | undefined;
}

/**
 * How mails are sent; undefined when they are not.
 *
 * @throws ConfigError when only a part of what mails need is set
 */
export function readMail({ SMTP_URL, MAIL_FROM, PUBLIC_URL }: MailVariables) {
  if (SMTP_URL === undefined) return undefined;
  // The links in mails lead to the public address.
  const missing = Object.entries({ MAIL_FROM, PUBLIC_URL }).filter(
    ([, value]) => value === undefined,
  );
  if (missing.length > 0) {
    const faults = missing.map(([name]) => `${name}: must be set for sending mails by SMTP_URL`);
    throw new ConfigError(faults.join("\n"));
  }
  return { smtpUrl: SMTP_URL, from: MAIL_FROM! } satisfies MailConfig;
}

function isSmtpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(text);
  return (
    /^smtps?:$/.test(protocol) &&
    hostname !== "" &&
    /^\/?$/.test(pathname) &&
    search === "" &&
    hash === "" &&
    (username === "") === (password === "") &&
    [username, password].every(isDecodable)
  );
}

/** Whether its percent signs stand for bytes. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
