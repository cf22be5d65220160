import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { escapeHtml } from "../../domain/escape-html.ts";
import { splitUrl } from "../connect/request-target.ts";
import { entityTag, isReading, matchesTag, prefersPage, weightOf } from "./negotiation.ts";
import type { HttpHandler } from "./responses.ts";

interface ChosenFile {
  /** Path within the folder, starting with `/`. */
  readonly file: string;
  /** Defaults to 200. */
  readonly status?: number;
  /** Whether the response depends on the Accept header. */
  readonly byAccept?: boolean;
  /** Path below which a service worker may serve pages, if it is not its own folder. */
  readonly workerScope?: string;
}

/**
 * Returns the candidate files for a path without query, best first. Returns an empty list if the path
 * is not served here.
 */
type ChooseFile = (path: string, request: IncomingMessage) => readonly ChosenFile[];

/**
 * Returns a content security policy that allows resources of this server, and images of one other
 * origin if given. Forbids framing.
 */
function policy(imageOrigin: string | undefined): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data:${imageOrigin === undefined ? "" : ` ${imageOrigin}`}`,
    "connect-src 'self'",
    "frame-src 'self'",
    "require-trusted-types-for 'script'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".json": "application/json",
  ".txt": "text/plain; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
  ".tgz": "application/gzip",
};

/** Precompressed forms, best first: content coding with file extension. */
const CODINGS = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

/** Modifies a document before caching. Returns the same buffer if nothing changes. */
type AdaptPage = (page: Buffer) => Buffer;

/** Path of build output whose file names contain content hashes. */
const ASSETS = "/assets/";

/** A file in each form: `identity` and the precompressed codings. */
interface File {
  readonly forms: ReadonlyMap<string, Buffer>;
  readonly headers: Readonly<Record<string, string>>;
  /** Entity tag in double quotes. */
  readonly tag: string;
}

/**
 * Serves a build folder for GET and HEAD, with the first candidate that exists. Browsers cache files
 * below `/assets/` forever and revalidate pages. The folder is read on first use and cached. Nothing is
 * served if it has no `index.html`.
 */
function createStaticFiles(
  folder: string,
  choose: ChooseFile,
  { imageOrigin, adapt = (page) => page }: { imageOrigin?: string | undefined; adapt?: AdaptPage },
): HttpHandler {
  let files: ReadonlyMap<string, File> | undefined;
  return (request, response, requestId) => {
    if (!isReading(request)) return false;
    const choices = choose(splitUrl(request)[0], request);
    if (choices.length === 0) return false;
    files ??= readFiles(folder, policy(imageOrigin), adapt);
    const chosen = choices.find((it) => files?.has(it.file));
    if (chosen === undefined) return false;
    sendFile(files!.get(chosen.file)!, chosen, { request, response, requestId });
    return true;
  };
}

/** Reads pages and their resources into memory. Ignores other files. */
function readFiles(folder: string, csp: string, adapt: AdaptPage): ReadonlyMap<string, File> | undefined {
  if (!existsSync(join(folder, "index.html"))) return undefined;
  const paths = ["/", ASSETS].flatMap((parent) =>
    readdirSync(join(folder, parent))
      .filter((name) => Object.hasOwn(CONTENT_TYPES, extname(name)))
      .map((name) => `${parent}${name}`),
  );
  return new Map(paths.map((path) => [path, readFile(folder, path, csp, adapt)]));
}

function readFile(folder: string, path: string, csp: string, adapt: AdaptPage): File {
  const built = readFileSync(join(folder, path));
  const content = /\.(html|md)$/.test(path) ? adapt(built) : built;
  const forms = new Map([["identity", content]]);
  if (content !== built) forms.set("gzip", gzipSync(content));
  for (const [coding, extension] of content === built ? CODINGS : []) {
    const compressed = join(folder, `${path}${extension}`);
    if (existsSync(compressed)) forms.set(coding, readFileSync(compressed));
  }
  const isAsset = path.startsWith(ASSETS);
  const tag = entityTag(content);
  const headers = {
    "content-type": CONTENT_TYPES[extname(path)] ?? "application/octet-stream",
    "cache-control": isAsset ? "public, max-age=31536000, immutable" : "no-cache",
    // The tag is weak, because all content codings share it (RFC 9110, 8.8.3.3).
    etag: `W/${tag}`,
    "content-security-policy": csp,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
  };
  return { forms, headers, tag };
}

function sendFile(
  { forms, headers, tag }: File,
  { status = 200, byAccept = false, workerScope }: ChosenFile,
  target: {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly requestId: string;
  },
): void {
  const { request, response, requestId } = target;
  const common = {
    ...headers,
    vary: byAccept ? "Accept, Accept-Encoding" : "Accept-Encoding",
    ...(workerScope !== undefined && { "service-worker-allowed": workerScope }),
    "x-request-id": requestId,
  };
  if (status === 200 && matchesTag(request.headers["if-none-match"], tag)) {
    response.writeHead(304, common).end();
    return;
  }
  const coding = codingFor(request, forms);
  const body = forms.get(coding)!;
  response.writeHead(status, {
    ...common,
    ...(coding === "identity" ? {} : { "content-encoding": coding }),
    "content-length": body.length,
  });
  // For HEAD, Node omits the body.
  response.end(body);
}

/** Returns the first available coding that the caller accepts. */
function codingFor({ headers }: IncomingMessage, forms: File["forms"]): string {
  const accepted = headers["accept-encoding"] ?? "";
  const best = CODINGS.find(([coding]) => forms.has(coding) && weightOf(coding, accepted) > 0);
  return best?.[0] ?? "identity";
}

/** Matches paths of the JSON API, which has its own 404 response: `/v1/`, `/admin/v1/` and so on. */
const API_PATH = /^\/([a-z]+\/)?v\d+\//;

/**
 * Serves the built dashboard: files below `/assets/`, and `index.html` for every other page that a
 * browser navigates to.
 */
export function createDashboardFiles(folder: string, imageOrigin?: string): HttpHandler {
  return createStaticFiles(folder, chooseDashboardFile, { imageOrigin });
}

function chooseDashboardFile(path: string, request: IncomingMessage): readonly ChosenFile[] {
  if (path.startsWith(ASSETS)) return [{ file: path }];
  if (API_PATH.test(path) || !prefersPage(request)) return [];
  return [{ file: "/index.html", byAccept: true }];
}

const COURIER = "/c";

/** Serves the built page for couriers: `/c`, its service worker and its files below `/c/assets/`. */
export function createCourierFiles(folder: string): HttpHandler {
  return createStaticFiles(folder, chooseCourierFile, {});
}

function chooseCourierFile(path: string): readonly ChosenFile[] {
  if (path === COURIER) return [{ file: "/index.html" }];
  if (path === `${COURIER}/sw.js`) return [{ file: "/sw.js", workerScope: COURIER }];
  return path.startsWith(`${COURIER}${ASSETS}`) ? [{ file: path.slice(COURIER.length) }] : [];
}

const ROOT = "/docs";
const PAGE = /^\/[a-z][a-z0-9-]*(\.md)?$/;
const NOT_FOUND: ChosenFile = { file: "/404.html", status: 404, byAccept: true };

/** Well-known top-level files and their names in the build. */
const TOP_FILES: Readonly<Record<string, string>> = {
  "/favicon.ico": "/favicon.svg",
  "/protos.tar.gz": "/protos.tgz",
  "/robots.txt": "/robots.txt",
  "/llms.txt": "/llms.txt",
};

/**
 * Serves the built documents. `/docs` is `index.html`. `/docs/clients` is `clients.html`, for programs and browsers,
 * and `/docs/clients.md` is the same guide as Markdown. Browsers get `404.html` for unknown paths below `/docs`.
 * Examples contain the given addresses instead of the defaults.
 */
export function createDocsFiles(folder: string, addresses: PublicAddresses = {}): HttpHandler {
  return createStaticFiles(folder, chooseDocument, {
    adapt: (page) => withAddresses(page, addresses),
  });
}

/** Returns the paths of the guides in a folder. Empty if the guides are not built. */
export function guidePaths(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const pages = readdirSync(folder).filter((name) => name.endsWith(".html") && name !== "404.html");
  return pages.map((name) => `${ROOT}/${name.slice(0, -".html".length)}`);
}

function chooseDocument(path: string, request: IncomingMessage): readonly ChosenFile[] {
  if (Object.hasOwn(TOP_FILES, path)) return [{ file: TOP_FILES[path]! }];
  if (path !== ROOT && !path.startsWith(`${ROOT}/`)) return [];
  const document = documentAt(path.slice(ROOT.length).replace(/\/$/, ""));
  return [...document, ...(prefersPage(request) ? [NOT_FOUND] : [])];
}

/** Public addresses of the service. `undefined` if not configured. */
interface PublicAddresses {
  readonly publicUrl?: string | undefined;
  readonly publicGrpcUrl?: string | undefined;
}

/** Matches code in a page or in Markdown. */
const EXAMPLE = /<pre [^]*?<\/pre>|^ *```[^]*?^ *```/gm;

/** Replaces addresses in examples. Prose stays unchanged, because it describes a local service. */
function withAddresses(page: Buffer, { publicUrl, publicGrpcUrl }: PublicAddresses): Buffer {
  const replacements = [
    ["http://127.0.0.1:8080", publicUrl],
    ["http://127.0.0.1:9090", publicGrpcUrl],
    // Clients without TLS connect to a host and port.
    ["127.0.0.1:9090", publicGrpcUrl?.startsWith("http:") ? new URL(publicGrpcUrl).host : undefined],
  ] as const;
  const text = page.toString("utf8");
  const adapted = text.replaceAll(EXAMPLE, (example) => {
    const escape = example.startsWith("<pre") ? escapeHtml : String;
    return replacements.reduce(
      (it, [local, own]) => (own === undefined ? it : it.replaceAll(local, () => escape(own))),
      example,
    );
  });
  return adapted === text ? page : Buffer.from(adapted);
}

function documentAt(path: string): readonly ChosenFile[] {
  if (path === "") return [{ file: "/index.html" }];
  if (path.startsWith(ASSETS)) return [{ file: path }];
  if (!PAGE.test(path)) return [];
  return [{ file: path.endsWith(".md") ? path : `${path}.html` }];
}
