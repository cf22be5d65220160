import type { IncomingHttpHeaders } from "node:http2";
import type { Message } from "@bufbuild/protobuf";
import { compressionNegotiate, createMethodSerializationLookup, type Compression } from "@connectrpc/connect/protocol";
import { parseTimeout } from "@connectrpc/connect/protocol-grpc";
import type { Rpc } from "../../pipeline/rpc.ts";
import { isHost } from "../connect/request-target.ts";
import { CONNECT_OPTIONS } from "../connect/connect-options.ts";

export interface UnaryCodec {
  readonly rpc: Rpc;
  readonly parse: (bytes: Uint8Array) => Message;
  /**
   * Encodes a response.
   *
   * @throws ConnectError if the response is too large
   */
  readonly serialize: (message: Message) => Uint8Array;
  readonly timeoutMs: number | undefined;
  /** Compression for large responses. Null if the caller accepts none. */
  readonly compression: Compression | null;
}

type Codec = Pick<UnaryCodec, "rpc" | "parse" | "serialize">;

/** Reads the headers of a call for the fast path. Returns `undefined` for a call that Connect must serve. */
export type ReadUnaryHeaders = (headers: IncomingHttpHeaders) => UnaryCodec | undefined;

/**
 * Selects calls for the fast path: a POST to a unary RPC, with an uncompressed binary Protobuf message
 * and well-formed protocol headers. Connect serves other calls.
 */
export function createUnaryHeadersReader(rpcs: readonly Rpc[]): ReadUnaryHeaders {
  const codecs = new Map(rpcs.map((rpc) => [`/${rpc.name}`, codecOf(rpc)]));
  return (headers) => {
    const codec = codecs.get(headers[":path"] ?? "");
    if (codec === undefined || !isForFastPath(headers) || !isHost(headers[":authority"])) {
      return undefined;
    }
    const timeoutMs = readTimeout(headers["grpc-timeout"]);
    if (timeoutMs === "malformed") return undefined;
    const { rpc, parse, serialize } = codec;
    const compression = chooseCompression(headers["grpc-accept-encoding"]);
    return { rpc, parse, serialize, timeoutMs, compression };
  };
}

function isForFastPath(headers: IncomingHttpHeaders): boolean {
  const type = headers["content-type"];
  const encoding = headers["grpc-encoding"];
  return (
    headers[":method"] === "POST" &&
    (type === "application/grpc" || type === "application/grpc+proto") &&
    (encoding === undefined || encoding === "identity") &&
    headers.expect === undefined
  );
}

type HeaderValue = IncomingHttpHeaders[string];

/** Returns the timeout in whole milliseconds, as Connect does. A timeout below one millisecond has already passed. */
function readTimeout(value: HeaderValue): number | "malformed" | undefined {
  if (value === undefined) return undefined;
  const { timeoutMs, error } = parseTimeout(String(value), Number.MAX_SAFE_INTEGER);
  return timeoutMs === undefined || error !== undefined ? "malformed" : Math.floor(timeoutMs);
}

function chooseCompression(accepted: HeaderValue): Compression | null {
  if (accepted === undefined) return null;
  const name = "grpc-accept-encoding";
  return compressionNegotiate(CONNECT_OPTIONS.acceptCompression, null, String(accepted), name).response;
}

function codecOf(rpc: Rpc): Codec {
  const { getI, getO } = createMethodSerializationLookup(rpc.method, undefined, undefined, {
    ...CONNECT_OPTIONS,
    readMaxBytes: rpc.maxRequestBytes,
  });
  const { parse } = getI(true);
  const { serialize } = getO(true);
  return { rpc, parse, serialize: serialize };
}
