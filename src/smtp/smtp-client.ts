import type { SMTPTransportOptions } from "nodemailer/lib/smtp-transport";
import { loadOnce } from "../domain/load-once.ts";

export interface SmtpSettings {
  /** `smtp://` or `smtps://`, with user and password if the server wants them. */
  readonly url: string;
  /** An address, or a name with an address in angle brackets. */
  readonly from: string;
}

export interface OutgoingMail {
  /** `<...@...>`, the same each time that the mail is tried. */
  readonly messageId: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Where a POST ends mails such as this one (RFC 8058); undefined where none does. */
  readonly unsubscribeUrl?: string | undefined;
}

/** Why a mail was not sent; `code` and `status` say more, and never to whom it was to go. */
export interface SmtpFailure {
  /**
   * `refused`: the server takes no mail for this person, now or later. `deferred`: it took this mail not
   * now. `unreachable`: nothing could be sent to anybody.
   */
  readonly kind: "refused" | "deferred" | "unreachable";
  /** Nodemailer's, such as `ETIMEDOUT`. */
  readonly code: string | undefined;
  /** The server's reply code, such as 550; undefined for no reply. */
  readonly status: number | undefined;
}

export interface SmtpClient {
  /** Never rejects: gives undefined once the server has taken the mail, else why it has not. */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<SmtpFailure | undefined>;
}

/** How long each step may take, in milliseconds. */
const STEP_MS = 10_000;
/** How long a mail may take from connecting until the server has it, in milliseconds. */
const TOTAL_MS = 30_000;

/**
 * Builds the client. It connects for each mail, and loads its library for the first one, so that the
 * service starts while the mail server is away.
 */
export function createSmtpClient({ url, from }: SmtpSettings): SmtpClient {
  const transport = loadOnce(async () =>
    (await import("nodemailer")).createTransport(transportOptions(url)),
  );
  return {
    async send({ to, unsubscribeUrl, ...mail }, signal) {
      try {
        await (
          await transport.get()
        ).sendMail({
          ...mail,
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
 * How the server is reached. A password goes to another machine over TLS alone; without one, TLS is used
 * where the server offers it.
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
    ...(username === ""
      ? {}
      : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    dnsTimeout: STEP_MS,
    socketTimeout: STEP_MS,
  };
}

function isLoopback(host: string): boolean {
  return /^(localhost|127\..*|::1)$/.test(host);
}

/** The commands whose replies tell about one mail. */
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
  // Without a reply, an envelope is at fault whose address no server was asked about.
  if (code === "EENVELOPE" && status === undefined) return { kind: "refused", code, status };
  if (status === undefined || !ABOUT_THE_MAIL.includes(command)) {
    return { kind: "unreachable", code, status };
  }
  return { kind: status >= 500 ? "refused" : "deferred", code, status };
}
