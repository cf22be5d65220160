import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { ownAddress, splitUrl } from "../connect/request-target.ts";
import { isReading, prefersPage } from "./negotiation.ts";
import { sendJsonText, type HttpHandler } from "./responses.ts";

const STYLE =
  ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem}";

const CONTENT = `<p>This is an API that quotes, books and cancels deliveries.</p>
<ul>
<li>The JSON API is below <code>/v1</code>, for example <code>POST /v1/shipments/quote</code>. Its
calls need an API key.</li>
<li>The gRPC server listens on a separate port and supports reflection. The
<a href="/protos.tar.gz">proto files</a> are available as an archive for <code>buf generate</code>.</li>
<li><a href="/healthz">/healthz</a> and <a href="/readyz">/readyz</a> are for operators.</li>
</ul>
<p>The <a href="/docs">guides</a> begin with a first booking, and the
<a href="/docs/api">reference of the JSON API</a> has every field.</p>`;

const LINKS = {
  guides: "/docs",
  llms: "/llms.txt",
  reference: "/docs/api",
  openapi: "/openapi.json",
  protos: "/protos.tar.gz",
  changelog: "/docs/changelog",
  health: "/healthz",
  readiness: "/readyz",
} as const;

/** Content security policy: the page loads only its style, and other sites cannot frame it. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": POLICY,
  "referrer-policy": "no-referrer",
} as const;

const NOT_BUILT = `<p>The dashboard is not built yet. <code>npm run build</code> in the service's folder
builds it; then reload this page.</p>`;

const PAGES = {
  start: { status: 200, body: page("Shipment booking", CONTENT) },
  unbuilt: { status: 200, body: page("Shipment booking", `${NOT_BUILT}\n${CONTENT}`) },
  nothing: { status: 404, body: page("This path does not exist", CONTENT) },
} as const;

/** Returns a page without scripts. `head` is additional head content. */
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

/**
 * Creates the handler of `/`. Browsers get a page about this service, which may not have a built
 * dashboard. Programs get a list of links.
 */
export function createStartPage(options: {
  readonly isUnbuilt: boolean;
  readonly publicUrl: string | undefined;
}): HttpHandler {
  const name = options.isUnbuilt ? "unbuilt" : "start";
  return (request, response, requestId) => {
    if (splitUrl(request)[0] !== "/" || !isReading(request)) return false;
    if (prefersPage(request)) sendPage(response, name, requestId);
    else {
      const address = options.publicUrl ?? ownAddress(request);
      const links = Object.entries(LINKS).map(([what, path]) => [what, `${address}${path}`]);
      const text = `${JSON.stringify(Object.fromEntries(links), null, 2)}\n`;
      sendJsonText(response, 200, requestId, text, ["vary", "Accept"]);
    }
    return true;
  };
}

/** Sends a page about this service. No-op if the response has started or the caller has disconnected. */
export function sendPage(response: ServerResponse, name: keyof typeof PAGES, requestId: string): void {
  sendHtml(response, requestId, PAGES[name], { vary: "Accept" });
}

/** Sends a page without scripts. No-op if the response has started or the caller has disconnected. */
export function sendHtml(
  response: ServerResponse,
  requestId: string,
  { status, body }: { readonly status: number; readonly body: Buffer },
  extraHeaders: Readonly<Record<string, string | string[]>>,
): void {
  if (response.headersSent || response.destroyed) return;
  const own = { "content-length": body.length, "x-request-id": requestId };
  response.writeHead(status, { ...PAGE_HEADERS, ...extraHeaders, ...own }).end(body);
}
