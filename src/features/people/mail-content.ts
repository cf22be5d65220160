import { escapeHtml } from "../../domain/escape-html.ts";

/** A mail in both of its forms, which say the same. */
export interface MailContent {
  readonly subject: string;
  readonly text: string;
  /** Without pictures, scripts, or anything to load. */
  readonly html: string;
}

/** What a mail tells. */
export interface MailTold {
  /** Where browsers reach the service, such as `https://book.example.org`. */
  readonly publicUrl: string;
  /** Path and fragment of the link. */
  readonly signInPath: string;
  /** The name of the workspace that somebody is invited into; undefined for who asked for a link. */
  readonly workspace: string | undefined;
}

/** Writes the mail with a link to sign in by. */
export function mailContent({ publicUrl, signInPath, workspace }: MailTold): MailContent {
  const link = publicUrl + signInPath;
  const { host } = new URL(publicUrl);
  const renew = `${publicUrl}/sign-in`;
  const why =
    workspace === undefined
      ? `Somebody, hopefully you, asked to sign in to Shipments at ${host}.`
      : `You are invited to ${workspace}, a workspace of Shipments at ${host}.`;
  const once = "The link works once, within 15 minutes. After that, get a new one by your email at";
  const ignore =
    workspace === undefined
      ? "If it was not you, delete this mail: nobody signs in without the link."
      : "If you did not expect this, delete this mail.";
  const subject =
    workspace === undefined ? "Your link to Shipments" : `Your invitation to ${workspace}`;
  return {
    subject,
    text: `${why} Sign in:\n\n${link}\n\n${once}\n${renew}\n\n${ignore}\n`,
    html: HTML(
      `<h1 style="margin:0 0 16px;font-size:20px;overflow-wrap:anywhere">${escapeHtml(subject)}</h1>`,
      paragraph(escapeHtml(why)),
      `<p style="margin:24px 0"><a href="${escapeHtml(link)}" style="${BUTTON}">Sign in</a></p>`,
      paragraph(
        `${once} <a href="${escapeHtml(renew)}" style="color:inherit">${escapeHtml(renew)}</a>.`,
      ),
      paragraph(
        `If the button does nothing, copy this address into your browser:<br>${escapeHtml(link)}`,
      ),
      paragraph(ignore),
    ),
  };
}

const BUTTON =
  "display:inline-block;padding:10px 18px;border-radius:6px;background:#1d4ed8;color:#ffffff;font-weight:600;text-decoration:none";

/** Mail programs know little CSS, and some of them none but of `style` attributes. */
const HTML = (...parts: readonly string[]) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Shipments</title>
</head>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif">
<main style="max-width:32rem">
${parts.join("\n")}
</main>
</body>
</html>
`;

function paragraph(html: string): string {
  return `<p style="margin:0 0 16px;overflow-wrap:anywhere">${html}</p>`;
}
