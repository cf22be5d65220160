import { create } from "@bufbuild/protobuf";
import {
  GetOperatorResponseSchema,
  type GetOperatorRequestValid,
  type GetOperatorResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { findOperator, loadOperatorMessage } from "./operators.ts";

/**
 * Gives one operator, revoked or not.
 *
 * @throws Refusal OPERATOR_NOT_FOUND
 */
export async function getOperator(
  request: GetOperatorRequestValid,
  _call: unknown,
  { em }: DatabaseDeps,
): Promise<GetOperatorResponse> {
  const reading = em.fork();
  const { id } = await findOperator(reading, request.operator);
  return create(GetOperatorResponseSchema, { data: await loadOperatorMessage(reading, id) });
}
