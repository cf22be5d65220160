import {
  compressionBrotli,
  compressionGzip,
  type connectNodeAdapter,
} from "@connectrpc/connect-node";
import { MAX_REQUEST_BYTES } from "../../domain/limits.ts";

/** How messages travel, in bytes, whoever frames them. */
export const CONNECT_OPTIONS = {
  /** In the order of preference; a caller's own order goes first. */
  acceptCompression: [compressionGzip, compressionBrotli],
  /** Of an RPC that does not say otherwise. */
  readMaxBytes: MAX_REQUEST_BYTES,
  /**
   * The largest message this service sends, of any RPC: lists are bounded by their pages, and what is
   * larger is a document made of a tariff's 64 MiB.
   */
  writeMaxBytes: 128 * 1024 * 1024,
  /** The smallest message that is compressed for a caller that accepts it. */
  compressMinBytes: 1024,
};

/** How long a unary call's stream may lie idle, in milliseconds, before it is reset. */
export const IDLE_STREAM_MS = 30_000;

export type NodeHandler = ReturnType<typeof connectNodeAdapter>;

export type NodeRequest = Parameters<NodeHandler>[0];
export type NodeResponse = Parameters<NodeHandler>[1];

export type RpcHandler = (request: NodeRequest, response: NodeResponse) => void;
