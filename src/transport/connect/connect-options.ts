import { compressionBrotli, compressionGzip, type connectNodeAdapter } from "@connectrpc/connect-node";
import { MAX_REQUEST_BYTES } from "../../domain/limits.ts";

/** Connect's message options, which all transports share. Sizes are in bytes. */
export const CONNECT_OPTIONS = {
  /** Supported compressions in order of preference. The caller's order takes precedence. */
  acceptCompression: [compressionGzip, compressionBrotli],
  /** Maximum size of a request message, unless the RPC has another limit. */
  readMaxBytes: MAX_REQUEST_BYTES,
  /**
   * Maximum size of a response message. Pages limit the size of lists. Larger documents are derived
   * from tariffs of up to 64 MiB.
   */
  writeMaxBytes: 128 * 1024 * 1024,
  /** Minimum size of compressed messages. */
  compressMinBytes: 1024,
};

/** Idle timeout of a unary call's stream, in milliseconds. */
export const IDLE_STREAM_MS = 30_000;

export type NodeHandler = ReturnType<typeof connectNodeAdapter>;

export type NodeRequest = Parameters<NodeHandler>[0];
export type NodeResponse = Parameters<NodeHandler>[1];

export type RpcHandler = (request: NodeRequest, response: NodeResponse) => void;
