/** A frame's head: a byte of flags and the message's length in four, big-endian. */
export const HEAD_BYTES = 5;

/**
 * A message as gRPC frames it ("Length-Prefixed-Message" of the gRPC protocol over HTTP/2).
 *
 * @param flags 1 for a compressed message, else 0
 */
export function frame(flags: number, message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  framed.writeUInt8(flags);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, HEAD_BYTES);
  return framed;
}

/** Whether a frame's flags are known: at most that its message is compressed. */
export function hasKnownFlags(flags: number): boolean {
  return flags <= 1;
}

/** How long the message is whose frame begins with this head, in bytes. */
export function lengthOf(head: Buffer): number {
  return head.readUInt32BE(1);
}
