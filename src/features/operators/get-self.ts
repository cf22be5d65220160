import { create } from "@bufbuild/protobuf";
import {
  GetSelfResponseSchema,
  type GetSelfResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { loadOperatorMessage } from "./operators.ts";

/**
 * Gives the operator whose key the call carries.
 *
 * @throws Refusal OPERATOR_NOT_FOUND for a call without a key, from the command line
 */
export async function getSelf(
  _request: unknown,
  { caller: { operatorId } }: OperatorCall,
  { em }: DatabaseDeps,
): Promise<GetSelfResponse> {
  if (operatorId === undefined) throw refuse("OPERATOR_NOT_FOUND", "The call has no operator.");
  return create(GetSelfResponseSchema, { data: await loadOperatorMessage(em.fork(), operatorId) });
}
