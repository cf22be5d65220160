import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { compressedFlag } from "@connectrpc/connect/protocol";
import { hasKnownFlags, HEAD_BYTES, lengthOf } from "../connect/frames.ts";
import { bodyTooLarge, notOfThisRpc } from "../connect/unreadable-request.ts";

interface Reading {
  readonly parse: (bytes: Uint8Array) => Message;
  readonly maxBytes: number;
  /** Called with the size of a message before it is read. */
  readonly reserve: (bytes: number) => void;
}

/** Reads the body of a gRPC call, which arrives in chunks and must contain one message. */
export function readUnaryBody({ parse, maxBytes, reserve }: Reading) {
  let request: Message | undefined;
  let chunks: Buffer[] = [];
  let size = 0;
  /** Number of bytes needed to continue. */
  let expected = HEAD_BYTES;

  function accept(frame: Buffer): void {
    if (((frame[0] as number) & compressedFlag) !== 0) throw notOfThisRpc();
    const message = parseOrRefuse(parse, frame.subarray(HEAD_BYTES));
    if (request !== undefined) throw miscounted("received extra");
    request = message;
  }

  /** Returns the size of the first frame in bytes, or of a frame header if the header is incomplete. */
  function frameBytes(bytes: Buffer): number {
    if (bytes.length < HEAD_BYTES) return HEAD_BYTES;
    if (!hasKnownFlags(bytes[0] as number)) throw notOfThisRpc();
    const length = lengthOf(bytes);
    if (length > maxBytes) throw bodyTooLarge(maxBytes);
    reserve(length);
    return HEAD_BYTES + length;
  }

  return {
    /** Adds a chunk. Throws errors immediately, including those of `reserve`. */
    append(chunk: Buffer): void {
      chunks.push(chunk);
      size += chunk.length;
      if (size < expected) return;
      let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks);
      if (expected === HEAD_BYTES) expected = frameBytes(rest);
      while (rest.length >= expected) {
        accept(rest.subarray(0, expected));
        rest = rest.subarray(expected);
        expected = frameBytes(rest);
      }
      chunks = [rest];
      size = rest.length;
    },
    /**
     * Returns the message after the last chunk.
     *
     * @throws Refusal BODY_UNREADABLE, or ConnectError if the body is empty
     */
    end(): Message {
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

/** Returns Connect's error for a body that does not contain exactly one message. */
function miscounted(what: "missing" | "received extra"): ConnectError {
  const text = `protocol error: ${what} input message for unary method`;
  return new ConnectError(text, Code.Unimplemented);
}
