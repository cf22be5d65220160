import { once } from "node:events";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { freePort } from "./free-port.ts";
import { whenOver } from "./when-over.ts";

/** An email that the server received. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Raw headers and parts of the message. */
  readonly raw: string;
  /** Unfolded headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded text part. */
  readonly text: string;
  readonly html: string;
}

export interface MailServer {
  /** URL of the server: `smtp://127.0.0.1:...` */
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  /** Returns the number of connections so far. */
  connections(): number;
  /** Refuses connections until `start`. */
  stop(): Promise<void>;
  /** Accepts connections again at the same address. */
  start(): Promise<void>;
}

/**
 * Starts a mail server, which stops with the test or its file.
 *
 * @param options options for the smtp-server package
 */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let connections = 0;
  let server: SMTPServer;
  const port = await freePort();
  async function start(): Promise<void> {
    server = new SMTPServer({
      authOptional: true,
      hideSTARTTLS: true,
      disableReverseLookup: true,
      closeTimeout: 100,
      onConnect(_session, callback) {
        connections += 1;
        callback();
      },
      onData(stream, { envelope }, callback) {
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("end", () => {
          const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
          const to = envelope.rcptTo.map(({ address }) => address);
          mails.push({ from, to, ...parseMail(Buffer.concat(chunks).toString("utf8")) });
          callback();
        });
      },
      ...options,
    });
    server.on("error", () => undefined);
    await once(server.listen(port, "127.0.0.1"), "listening");
  }
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()));
  await start();
  whenOver(stop);
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    connections: () => connections,
    stop,
    start,
  };
}

export function linkIn({ text }: ReceivedMail): string {
  return /^https?:\S+#token=\S+$/m.exec(text)![0];
}

function parseMail(raw: string): Pick<ReceivedMail, "raw" | "headers" | "text" | "html"> {
  const { headers, body } = parseEntity(raw);
  const [, boundary] = /boundary="([^"]+)"/.exec(headers["content-type"]!)!;
  const parts = body.split(`--${boundary}`).slice(1, -1).map(parseEntity);
  const decoded = (type: string) => {
    const part = parts.find(({ headers: own }) => own["content-type"]!.startsWith(type))!;
    return decode(part.body, part.headers["content-transfer-encoding"]);
  };
  return { raw, headers, text: decoded("text/plain"), html: decoded("text/html") };
}

function parseEntity(raw: string) {
  const trimmed = raw.replace(/^\r\n/, "");
  const end = trimmed.indexOf("\r\n\r\n");
  const lines = trimmed
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, " ")
    .split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([^:]+):\s*(.*)$/.exec(line)!;
      return [name!.toLowerCase(), value!];
    }),
  );
  return { headers: headers as Record<string, string>, body: trimmed.slice(end + 4) };
}

function decode(body: string, encoding: string | undefined): string {
  const text =
    encoding === "base64"
      ? Buffer.from(body, "base64").toString("utf8")
      : encoding === "quoted-printable"
        ? Buffer.from(
            body
              .replaceAll(/=\r\n/g, "")
              .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex as string, 16))),
            "latin1",
          ).toString("utf8")
        : body;
  return text.replaceAll("\r\n", "\n").trimEnd() + "\n";
}
