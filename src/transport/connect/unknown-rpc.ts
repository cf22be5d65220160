import { refuse } from "../../domain/refusal.ts";
import type { RpcHandler } from "./node-request.ts";
import { refuseOutsideRpc } from "./refuse-outside-rpc.ts";

/** Answers a request for an RPC that there is not. */
export const answerUnknownRpc: RpcHandler = (request, response) =>
  refuseOutsideRpc(request, response, refuse("NO_SUCH_METHOD", "There is no such RPC."));
