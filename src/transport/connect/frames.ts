import { Code, ConnectError } from "@connectrpc/connect";

/** Size of a frame header in bytes: one byte of flags and a big-endian length of four bytes. */
export const HEAD_BYTES = 5;

/**
 * Returns a gRPC frame ("Length-Prefixed-Message" in the gRPC protocol over HTTP/2). `flags` is 1 for a
 * compressed message.
 */
export function frame(flags: number, message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  framed.writeUInt8(flags);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, HEAD_BYTES);
  return framed;
}

/** Whether a frame has no flags other than the compression flag. */
export function hasKnownFlags(flags: number): boolean {
  return flags <= 1;
}

export function lengthOf(head: Buffer): number {
  return head.readUInt32BE(1);
}

/**
 * Forwards the body of a gRPC or gRPC-Web call and checks the frame flags, because Connect ignores unknown flags.
 *
 * @throws ConnectError like Connect's error for unreadable requests
 */
export async function* withKnownFlags(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const head = Buffer.alloc(HEAD_BYTES);
  let headBytes = 0;
  let messageBytes = 0;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length;) {
      if (messageBytes > 0) {
        const length = Math.min(messageBytes, chunk.length - at);
        messageBytes -= length;
        at += length;
        continue;
      }
      head[headBytes++] = chunk[at++] as number;
      if (headBytes < HEAD_BYTES) continue;
      if (!hasKnownFlags(head[0] as number)) {
        throw new ConnectError("a frame has unknown flags", Code.InvalidArgument);
      }
      messageBytes = lengthOf(head);
      headBytes = 0;
    }
    yield chunk;
  }
}
