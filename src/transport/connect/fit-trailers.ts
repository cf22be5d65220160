import { clip } from "../../domain/clip.ts";

/**
 * How much of the trailers may tell a refusal, in bytes as they are sent. Clients in Java and on gRPC's
 * C-core take 8 KiB of headers or trailers, counted before compression with 32 bytes for each (RFC 9113,
 * section 6.5.2); the other trailers and the headers that come with them take about a seventh.
 */
const MAX_STATUS_BYTES = 7_000;
/** How much of these the message may take in `grpc-message`. */
const MAX_MESSAGE_BYTES = 1_500;
/** A character has at most four bytes of UTF-8, each of which takes three when percent-encoded. */
const MOST_BYTES_OF_CHARACTER = 12;
/** What the details hold besides texts: the type URLs of three, and an `ErrorInfo` with its facts. */
const OTHER_DETAIL_BYTES = 400;
/** What frames a violation's texts: a tag and a length of up to two bytes for it and for each text. */
const FRAME_BYTES = 12;

/** The message of a refusal, cut where it would be too long for `grpc-message`. */
export function fittingMessage(message: string): string {
  return encodedBytes(message) <= MAX_MESSAGE_BYTES
    ? message
    : clip(message, Math.floor(MAX_MESSAGE_BYTES / MOST_BYTES_OF_CHARACTER) - 1);
}

/**
 * The first violations of a refusal, as many as fit into `grpc-status-details-bin` beside its message,
 * which is in there too. Base64 takes four bytes for three.
 */
export function fittingViolations<T extends Readonly<Record<string, string>>>(
  message: string,
  violations: readonly T[],
): readonly T[] {
  const detailBytes = ((MAX_STATUS_BYTES - encodedBytes(message)) * 3) / 4;
  let leftBytes = detailBytes - Buffer.byteLength(message) - OTHER_DETAIL_BYTES;
  const count = violations.findIndex((violation) => {
    const texts = Object.values(violation);
    leftBytes -= texts.reduce((sum, text) => sum + Buffer.byteLength(text), FRAME_BYTES);
    return leftBytes < 0;
  });
  return count === -1 ? violations : violations.slice(0, count);
}

/** The length of a text as `grpc-message` has it. */
function encodedBytes(text: string): number {
  return encodeURIComponent(text).length;
}
