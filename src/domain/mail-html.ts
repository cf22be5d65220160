import { escapeHtml } from "./escape-html.ts";

/** Subject and body of an email, as HTML and as plain text. */
export interface MailContent {
  readonly subject: string;
  readonly text: string;
  /** Contains no images, scripts or external resources. */
  readonly html: string;
}

const BUTTON =
  "display:inline-block;padding:10px 18px;border-radius:6px;background:#1d4ed8;color:#ffffff;font-weight:600;text-decoration:none";

/**
 * Returns the HTML of an email. Uses `style` attributes, because some email clients support no other CSS.
 *
 * @param parts HTML
 */
export function mailHtml(
  { language, title }: { readonly language: string; readonly title: string },
  ...parts: readonly string[]
): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
</head>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif">
<main style="max-width:32rem">
${parts.join("\n")}
</main>
</body>
</html>
`;
}

export function mailHeading(text: string): string {
  return `<h1 style="margin:0 0 16px;font-size:20px;overflow-wrap:anywhere">${escapeHtml(text)}</h1>`;
}

export function mailParagraph(html: string): string {
  return `<p style="margin:0 0 16px;overflow-wrap:anywhere">${html}</p>`;
}

export function mailLink(url: string, text = url): string {
  return `<a href="${escapeHtml(url)}" style="color:inherit">${escapeHtml(text)}</a>`;
}

export function mailButton(url: string, text: string): string {
  return `<p style="margin:24px 0"><a href="${escapeHtml(url)}" style="${BUTTON}">${escapeHtml(text)}</a></p>`;
}
