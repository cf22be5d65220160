import type { SMTPTransportOptions } from "nodemailer/lib/smtp-transport";
import { loadOnce } from "../domain/load-once.ts";

export interface SmtpSettings {
  /** URL with `smtp://` or `smtps://`, with user and password if required. */
  readonly url: string;
  /** Email address, or a name followed by an email address in angle brackets. */
  readonly from: string;
}

export interface OutgoingMail {
  /** Message id in the form `<...@...>`. It is the same for each attempt. */
  readonly messageId: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** URL to which mail programs send a POST to unsubscribe (RFC 8058). */
  readonly unsubscribeUrl?: string | undefined;
}

/** Failure to send an email. `code` and `status` never contain the recipient. */
interface SmtpFailure {
  /**
   * Kind of failure:
   * - `refused`: the server permanently rejects this recipient.
   * - `deferred`: the server temporarily rejects this email.
   * - `unreachable`: no email can be sent.
   */
  readonly kind: "refused" | "deferred" | "unreachable";
  /** Nodemailer's code, such as `ETIMEDOUT`. */
  readonly code: string | undefined;
  /** SMTP reply code, such as 550. `undefined` without a reply. */
  readonly status: number | undefined;
}

export interface SmtpClient {
  /** Sends an email. Never rejects. Returns `undefined` on success, otherwise the failure. */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<SmtpFailure | undefined>;
}

/** Timeout of each step, in milliseconds. */
const STEP_MS = 10_000;
/** Timeout from connecting to acceptance, in milliseconds. */
const TOTAL_MS = 30_000;

/**
 * Creates the client. It connects for each email and loads its library for the first email, so that the
 * service starts even if the mail server is unreachable.
 */
export function createSmtpClient({ url, from }: SmtpSettings): SmtpClient {
  const transport = loadOnce(async () => (await import("nodemailer")).createTransport(transportOptions(url)));
  return {
    async send({ to, subject, unsubscribeUrl, ...mail }, signal) {
      try {
        await (
          await transport.get()
        ).sendMail({
          ...mail,
          subject: encodeSubject(subject),
          from,
          to: { name: "", address: to },
          headers: {
            "Auto-Submitted": "auto-generated",
            ...(unsubscribeUrl !== undefined && {
              "List-Unsubscribe": `<${unsubscribeUrl}>`,
              "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            }),
          },
          disableFileAccess: true,
          disableUrlAccess: true,
          signal: AbortSignal.any([signal, AbortSignal.timeout(TOTAL_MS)]),
        });
        return undefined;
      } catch (error) {
        return toFailure(error);
      }
    },
  };
}

/**
 * Maximum UTF-8 length of the text in an encoded word, in bytes. An encoded word has at most 75
 * characters (RFC 2047).
 */
const WORD_BYTES = 45;

/**
 * Encodes a subject that looks like an encoded word, because mail programs would decode it. Nodemailer
 * encodes only non-ASCII text.
 */
function encodeSubject(subject: string): string {
  if (!subject.includes("=?")) return subject;
  const words = [""];
  for (const character of subject) {
    const longer = `${words.at(-1)}${character}`;
    if (Buffer.byteLength(longer) > WORD_BYTES) words.push(character);
    else words[words.length - 1] = longer;
  }
  return words.map((it) => `=?UTF-8?B?${Buffer.from(it).toString("base64")}?=`).join(" ");
}

/**
 * Returns the connection options. A password is sent to another machine only over TLS. Without a
 * password, TLS is used if the server supports it.
 */
export function transportOptions(url: string): SMTPTransportOptions {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === "smtps:";
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return {
    host,
    ...(port === "" ? {} : { port: Number(port) }),
    secure,
    requireTLS: !secure && password !== "" && !isLoopback(host),
    ...(username === "" ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    dnsTimeout: STEP_MS,
    socketTimeout: STEP_MS,
  };
}

function isLoopback(host: string): boolean {
  return /^(localhost|127\..*|::1)$/.test(host);
}

/** Commands whose replies refer to a single email. */
const ABOUT_THE_MAIL = ["RCPT TO", "DATA"];

function toFailure(error: unknown): SmtpFailure {
  const {
    code,
    responseCode: status,
    command = "",
  } = error as {
    readonly code?: string;
    readonly responseCode?: number;
    readonly command?: string;
  };
  // Without a reply, the envelope was invalid and not sent.
  if (code === "EENVELOPE" && status === undefined) return { kind: "refused", code, status };
  if (status === undefined || !ABOUT_THE_MAIL.includes(command)) {
    return { kind: "unreachable", code, status };
  }
  return { kind: status >= 500 ? "refused" : "deferred", code, status };
}
