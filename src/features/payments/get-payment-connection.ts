import { create } from "@bufbuild/protobuf";
import {
  GetPaymentConnectionResponseSchema,
  type GetPaymentConnectionResponse,
} from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import type { Call } from "../../pipeline/call.ts";
import { type ConnectionDeps, connectionMessage, findConnection } from "./payment-connections.ts";

/** Gives the workspace's connection as it was when its account was last read. */
export async function getPaymentConnection(
  _request: unknown,
  { caller: { workspaceId } }: Call,
  { em }: ConnectionDeps,
): Promise<GetPaymentConnectionResponse> {
  const connection = await findConnection(em.fork(), workspaceId);
  const data = connectionMessage(connection);
  return create(GetPaymentConnectionResponseSchema, { data });
}
