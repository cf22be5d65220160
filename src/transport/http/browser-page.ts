import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

const STYLE =
  ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}";

const CONTENT = `<p>This is a service for programs. It quotes, books and cancels deliveries.</p>
<ul>
<li>The JSON API is below <code>/v1</code>, for example <code>POST /v1/shipments/quote</code>. Its
calls need an API key.</li>
<li>The gRPC server listens on a port of its own, and describes itself by reflection.</li>
<li><a href="/healthz">/healthz</a> and <a href="/readyz">/readyz</a> are for operators.</li>
</ul>
<p>The <a href="/docs">guides</a> begin with a first booking, and the
<a href="/docs/api">reference of the JSON API</a> has every field. The proto files are in the
service's repository, in <code>proto/shipments/v1</code>.</p>`;

/** Nothing is loaded but this style, and no other site may show the page in a frame. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The headers of every page. */
export const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": POLICY,
  "referrer-policy": "no-referrer",
} as const;

const NOT_BUILT = `<p>The dashboard is not built yet. <code>npm run build</code> in the service's folder
builds it; then reload this page.</p>`;

/** The pages there are, with their statuses. */
const PAGES = {
  start: { status: 200, body: page("Shipment booking", CONTENT) },
  unbuilt: { status: 200, body: page("Shipment booking", `${NOT_BUILT}\n${CONTENT}`) },
  nothing: { status: 404, body: page("There is nothing at this path", CONTENT) },
} as const;

/** A page without a script; `head` is what its head has beyond the usual. */
export function page(title: string, content: string, head = ""): Buffer {
  return Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${STYLE}</style>${head}
</head>
<body>
<h1>${title}</h1>
${content}
</body>
</html>
`);
}

/** Text as it stands in HTML, between tags or between double quotes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/**
 * Whether the request comes from a browser's address bar: a GET or HEAD that prefers text/html to
 * JSON by its Accept header (RFC 9110, section 12.5.1). Ranges with an asterisk count for neither,
 * as programs send them.
 */
export function prefersPage({ method, headers }: IncomingMessage): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  const accept = headers.accept ?? "";
  return weightOf("text/html", accept) > weightOf("application/json", accept);
}

/** The weight of a media type or coding in an Accept header, from 0 to 1; 0 when it is not named. */
export function weightOf(type: string, accept: string): number {
  for (const range of accept.toLowerCase().split(",")) {
    const [name, ...parameters] = range.split(";").map((part) => part.trim());
    if (name !== type) continue;
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    return weight === undefined ? 1 : Number(weight.slice(2)) || 0;
  }
  return 0;
}

/**
 * Sends a page that says what runs here: `start` at `/`, where `unbuilt` says that there would be a
 * dashboard, and `nothing`, with 404, at other paths.
 */
export function sendPage(
  response: ServerResponse,
  name: keyof typeof PAGES,
  requestId: string,
): void {
  if (response.headersSent || response.destroyed) return;
  const { status, body } = PAGES[name];
  response.writeHead(status, {
    ...PAGE_HEADERS,
    "content-length": body.length,
    vary: "Accept",
    "x-request-id": requestId,
  });
  response.end(body);
}
