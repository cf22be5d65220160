import { z } from "zod";
import { addressLike, isDecodable, requireSet, SECRET } from "./variables.ts";

/** Matches an email address, or a name followed by an email address in angle brackets. */
const FROM = /^(?:[^\s<>@,;]+@[^\s<>@,;]+|[^<>@,;\r\n]*<[^\s<>@,;]+@[^\s<>@,;]+>)$/;

export const MAIL_VARIABLES = {
  SMTP_URL: addressLike("smtps://user:password@smtp.example.org:465", isSmtpUrl).optional().meta(SECRET),
  MAIL_FROM: z
    .string()
    .trim()
    .regex(FROM, { error: "must be an address such as Shipments <no-reply@example.org>" })
    .optional(),
};
type Variables = z.output<z.ZodObject<typeof MAIL_VARIABLES>> & {
  readonly PUBLIC_URL?: string | undefined;
};

/** @throws ConfigError if the email settings are incomplete */
export function readMail({ SMTP_URL, MAIL_FROM, PUBLIC_URL }: Variables) {
  if (SMTP_URL === undefined) return undefined;
  // PUBLIC_URL is required, because links in emails use it.
  const { MAIL_FROM: from } = requireSet({ MAIL_FROM, PUBLIC_URL }, "sending email through SMTP_URL");
  return { smtpUrl: SMTP_URL, from };
}

function isSmtpUrl({ protocol, hostname, pathname, search, hash, username, password }: URL) {
  return (
    /^smtps?:$/.test(protocol) &&
    hostname !== "" &&
    /^\/?$/.test(pathname) &&
    search + hash === "" &&
    (username === "") === (password === "") &&
    [username, password].every(isDecodable)
  );
}
