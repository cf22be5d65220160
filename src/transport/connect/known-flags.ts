import { Code, ConnectError } from "@connectrpc/connect";
import { hasKnownFlags, HEAD_BYTES, lengthOf } from "./frames.ts";

/**
 * Passes on the body of a gRPC or gRPC-Web call as long as the flags of its frames are known, since
 * Connect overlooks others.
 *
 * @throws ConnectError as Connect does for what it cannot read
 */
export async function* withKnownFlags(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const head = Buffer.alloc(HEAD_BYTES);
  let headBytes = 0;
  /** How much of the message is still to come. */
  let messageBytes = 0;
  for await (const piece of body) {
    for (let at = 0; at < piece.length;) {
      if (messageBytes > 0) {
        const taken = Math.min(messageBytes, piece.length - at);
        messageBytes -= taken;
        at += taken;
        continue;
      }
      head[headBytes++] = piece[at++] as number;
      if (headBytes < HEAD_BYTES) continue;
      if (!hasKnownFlags(head[0] as number)) {
        throw new ConnectError("a frame has unknown flags", Code.InvalidArgument);
      }
      messageBytes = lengthOf(head);
      headBytes = 0;
    }
    yield piece;
  }
}
