import type { Http2Stream } from "node:http2";

/** How long a caller that was answered early may go on sending over HTTP/2, in milliseconds. */
const GRACE_MS = 1_000;

/** Closes the stream of a caller that was answered early, unless it has soon ended by itself. */
export function closeStreamAfterGrace(stream: Http2Stream): void {
  const cut = setTimeout(() => stream.close(), GRACE_MS);
  stream.once("close", () => clearTimeout(cut));
}
