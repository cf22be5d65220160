import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { prefersPage, weightOf } from "./browser-page.ts";

/** Answers a request for a page or a file of the dashboard; false when it is for something else. */
export type DashboardFiles = (
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
) => boolean;

/** The page loads what this server has, and no other site may show it in a frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "require-trusted-types-for 'script'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

/** What a file is compressed by beside it, the best first: content coding and file extension. */
const CODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

/** Paths of the JSON API, whose 404 is its own: `/v1/`, `/admin/v1/` and the like. */
const API_PATH = /^\/([a-z]+\/)?v\d+\//;
const ASSETS = "/assets/";

/** A file in each of its forms: `identity`, and the content codings it was compressed by. */
interface File {
  readonly forms: ReadonlyMap<string, Buffer>;
  readonly headers: Readonly<Record<string, string>>;
  readonly etag: string;
}

/**
 * Serves the dashboard out of the folder it was built into: files below `/assets/`, whose names hold
 * a hash of their content, are cached for ever; every other path that a browser asks for as a page is
 * given `index.html`, which then shows the page of that path. The folder is read when it is first
 * asked for and then kept in memory; as long as it is not built, nothing is served.
 */
export function createDashboardFiles(folder: string): DashboardFiles {
  let files: ReadonlyMap<string, File> | undefined;
  return (request, response, requestId) => {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    const path = (request.url ?? "").replace(/\?.*/s, "");
    const isAsset = path.startsWith(ASSETS);
    if (!isAsset && (API_PATH.test(path) || !prefersPage(request))) return false;
    files ??= readFiles(folder);
    const file = files?.get(isAsset ? path : "/index.html");
    if (file === undefined) return false;
    sendFile(file, request, response, requestId);
    return true;
  };
}

function readFiles(folder: string): ReadonlyMap<string, File> | undefined {
  if (!existsSync(join(folder, "index.html"))) return undefined;
  const assets = readdirSync(join(folder, ASSETS))
    .filter((name) => Object.hasOwn(CONTENT_TYPES, extname(name)))
    .map((name) => `${ASSETS}${name}`);
  const paths = ["/index.html", ...assets];
  return new Map(paths.map((path) => [path, readFile(folder, path)]));
}

function readFile(folder: string, path: string): File {
  const content = readFileSync(join(folder, path));
  const forms = new Map([["identity", content]]);
  for (const [coding, extension] of CODINGS) {
    const compressed = join(folder, `${path}${extension}`);
    if (existsSync(compressed)) forms.set(coding, readFileSync(compressed));
  }
  const isAsset = path.startsWith(ASSETS);
  // Weak, as it is the same for every content coding (RFC 9110, section 8.8.3.3).
  const etag = `W/"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
  const headers = {
    "content-type": CONTENT_TYPES[extname(path)] ?? "application/octet-stream",
    "cache-control": isAsset ? "public, max-age=31536000, immutable" : "no-cache",
    vary: isAsset ? "Accept-Encoding" : "Accept, Accept-Encoding",
    etag,
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
  return { forms, headers, etag };
}

function sendFile(
  { forms, headers, etag }: File,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
): void {
  const common = { ...headers, "x-request-id": requestId };
  if (matches(request.headers["if-none-match"], etag)) {
    response.writeHead(304, common).end();
    return;
  }
  const coding = codingFor(request, forms);
  const body = forms.get(coding)!;
  response.writeHead(200, {
    ...common,
    ...(coding === "identity" ? {} : { "content-encoding": coding }),
    "content-length": body.length,
  });
  // Node sends no body in answer to HEAD.
  response.end(body);
}

/** The first of the codings there are that the caller takes. */
function codingFor({ headers }: IncomingMessage, forms: File["forms"]): string {
  const accepted = headers["accept-encoding"] ?? "";
  const best = CODINGS.find(([coding]) => forms.has(coding) && weightOf(coding, accepted) > 0);
  return best?.[0] ?? "identity";
}

/** Compares weakly, as If-None-Match is compared (RFC 9110, section 13.1.2). */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = etag.replace(/^W\//, "");
  return ifNoneMatch.split(",").some((one) => {
    const tag = one.trim();
    return tag === "*" || tag.replace(/^W\//, "") === opaque;
  });
}
