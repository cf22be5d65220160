import { open, type FileHandle } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { MapTiles } from "../../domain/map-tiles.ts";
import { unavailable, type Refusal } from "../../domain/refusal.ts";
import { splitUrl } from "../connect/request-target.ts";
import { sendJson, sendRefusal, type HttpHandler } from "./responses.ts";

const SETTING = "/map/tiles";
const ARCHIVE = "/map/tiles.pmtiles";

/** Returns the origin of map images. `undefined` if this service serves them or no map images are configured. */
export function tilesOrigin(tiles: MapTiles | undefined): string | undefined {
  return tiles && "url" in tiles ? new URL(tiles.url).origin : undefined;
}

/**
 * Serves the dashboard's map configuration: `GET /map/tiles` returns `{"tiles": ...}` with an
 * `attribution`, and either a `url` with `{z}`, `{x}` and `{y}` or the path of an `archive`. `tiles` is
 * null without map tiles. The archive is a PMTiles file that is served in byte ranges. It is opened
 * once, so that all ranges belong to the same file, and closed with the service.
 */
export function createMapTiles(
  tiles: MapTiles | undefined,
  {
    toRefusal,
    endSignal,
  }: {
    readonly toRefusal: (error: unknown, requestId: string) => Refusal;
    readonly endSignal: AbortSignal;
  },
): HttpHandler {
  const setting = { tiles: settingOf(tiles) };
  let archive: Promise<Archive> | undefined;
  const close = (opened = archive) => void opened?.then(({ file }) => file.close()).catch(() => {});
  endSignal.addEventListener("abort", () => close());
  return (request, response, requestId) => {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    const [path] = splitUrl(request);
    if (path === SETTING) {
      sendJson(response, 200, requestId, setting);
      return true;
    }
    if (path !== ARCHIVE || tiles === undefined || !("file" in tiles)) return false;
    if (endSignal.aborted) {
      const refusal = unavailable("The service is shutting down. Try again in a moment.");
      sendRefusal(response, requestId, refusal);
      return true;
    }
    const opened = (archive ??= openArchive(tiles.file));
    opened
      .then((it) => sendRange(it, { request, response, requestId }))
      .catch((error: unknown) => {
        // The next request opens the file again, because it may have been replaced.
        if (archive === opened) archive = undefined;
        close(opened);
        sendRefusal(response, requestId, toRefusal(error, requestId));
      });
    return true;
  };
}

function settingOf(tiles: MapTiles | undefined) {
  if (tiles === undefined) return null;
  const { attribution } = tiles;
  return "url" in tiles ? { url: tiles.url, attribution } : { archive: ARCHIVE, attribution };
}

interface Archive {
  readonly file: FileHandle;
  readonly size: number;
  readonly etag: string;
}

async function openArchive(path: string): Promise<Archive> {
  const file = await open(path, "r");
  try {
    const { size, mtimeMs } = await file.stat();
    return { file, size, etag: `"${size.toString(36)}-${Math.round(mtimeMs).toString(36)}"` };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Maximum length of a range, in bytes. Directories and tiles are smaller. */
const MAX_RANGE_BYTES = 4 * 1024 * 1024;
const RANGE = /^bytes=(\d{1,15})-(\d{1,15})$/;

async function sendRange(
  { file, size, etag }: Archive,
  target: {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly requestId: string;
  },
): Promise<void> {
  const { request, response, requestId } = target;
  const common = { etag, "accept-ranges": "bytes", "x-request-id": requestId };
  const [, from = "", to = ""] = RANGE.exec(request.headers.range ?? "") ?? [];
  const [start, end] = [Number(from), Math.min(Number(to), size - 1)];
  if (from === "" || end < start || end - start >= MAX_RANGE_BYTES) {
    // A request without a range is refused, because the file can be as large as a disk.
    response.writeHead(416, { ...common, "content-range": `bytes */${size}`, "content-length": 0 });
    response.end();
    return;
  }
  const body = Buffer.allocUnsafe(end - start + 1);
  if (request.method !== "HEAD") {
    const { bytesRead } = await file.read(body, 0, body.length, start);
    if (bytesRead < body.length) throw new Error("the map tiles file was truncated");
  }
  response.writeHead(206, {
    ...common,
    "content-type": "application/octet-stream",
    "content-range": `bytes ${start}-${end}/${size}`,
    "content-length": body.length,
    "cache-control": "public, max-age=86400",
    "cross-origin-resource-policy": "same-origin",
  });
  response.end(body);
}
