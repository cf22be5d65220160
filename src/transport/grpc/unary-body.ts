import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressedFlag } from "@connectrpc/connect/protocol";
import { hasKnownFlags, HEAD_BYTES, lengthOf } from "../connect/frames.ts";
import { bodyTooLarge, notOfThisRpc } from "../connect/unreadable-request.ts";

/** The body of a gRPC call, in whatever pieces it comes; one message is expected. */
export interface UnaryBody {
  /** Takes the next piece, and throws at once what is wrong with it, or what `reserve` throws. */
  take(piece: Buffer): void;
  /** The message, now that the body is complete. @throws Refusal BODY_UNREADABLE, or ConnectError when it is empty */
  end(): Message;
}

interface Reading {
  readonly parse: (bytes: Uint8Array) => Message;
  readonly maxBytes: number;
  /** Told of a message of so many bytes before it is read. */
  readonly reserve: (bytes: number) => void;
}

export function readUnaryBody({ parse, maxBytes, reserve }: Reading): UnaryBody {
  let request: Message | undefined;
  let pieces: Buffer[] = [];
  let size = 0;
  /** How many bytes there must be to go on. */
  let wanted = HEAD_BYTES;

  function accept(frame: Buffer): void {
    if (((frame[0] as number) & compressedFlag) !== 0) throw notOfThisRpc();
    const message = parseOrRefuse(parse, frame.subarray(HEAD_BYTES));
    if (request !== undefined) throw miscounted("received extra");
    request = message;
  }

  /** How long the frame is that begins here, or its head if that is not yet complete, in bytes. */
  function frameBytes(bytes: Buffer): number {
    if (bytes.length < HEAD_BYTES) return HEAD_BYTES;
    if (!hasKnownFlags(bytes[0] as number)) throw notOfThisRpc();
    const length = lengthOf(bytes);
    if (length > maxBytes) throw bodyTooLarge(maxBytes);
    reserve(length);
    return HEAD_BYTES + length;
  }

  return {
    take(piece) {
      pieces.push(piece);
      size += piece.length;
      if (size < wanted) return;
      let rest = pieces.length === 1 ? piece : Buffer.concat(pieces);
      if (wanted === HEAD_BYTES) wanted = frameBytes(rest);
      while (rest.length >= wanted) {
        accept(rest.subarray(0, wanted));
        rest = rest.subarray(wanted);
        wanted = frameBytes(rest);
      }
      pieces = [rest];
      size = rest.length;
    },
    end() {
      if (size > 0) throw notOfThisRpc();
      if (request === undefined) throw miscounted("missing");
      return request;
    },
  };
}

function parseOrRefuse(parse: (bytes: Uint8Array) => Message, bytes: Uint8Array): Message {
  try {
    return parse(bytes);
  } catch {
    throw notOfThisRpc();
  }
}

/** Connect's words for a body that does not hold exactly one message. */
function miscounted(what: "missing" | "received extra"): ConnectError {
  const text = `protocol error: ${what} input message for unary method`;
  return new ConnectError(text, Code.Unimplemented);
}
