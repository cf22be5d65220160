import type { connectNodeAdapter } from "@connectrpc/connect-node";

/** Answers a request that may be an RPC, on either HTTP version. */
export type RpcHandler = ReturnType<typeof connectNodeAdapter>;

/** A request of Node's HTTP/1.1 or HTTP/2 server. */
export type NodeRequest = Parameters<RpcHandler>[0];
/** Its answer. */
export type NodeResponse = Parameters<RpcHandler>[1];
