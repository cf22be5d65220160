import {
  compressionBrotli,
  compressionGzip,
  type connectNodeAdapter,
} from "@connectrpc/connect-node";
import { MAX_REQUEST_BYTES } from "../../domain/limits.ts";

/** Connect options for messages, common to all transports. Sizes in bytes. */
export const CONNECT_OPTIONS = {
  /** In order of preference. The caller's order takes precedence. */
  acceptCompression: [compressionGzip, compressionBrotli],
  /** Default limit of RPCs. */
  readMaxBytes: MAX_REQUEST_BYTES,
  /**
   * Maximum size of a response message. Lists are limited by their pages. Larger documents are
   * derived from tariffs of up to 64 MiB.
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
