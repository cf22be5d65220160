import type { Operator as OperatorMessage } from "../../../gen/shipments/admin/v1/operator_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { workingKeysOf } from "./operator-keys.ts";
import { operatorMessage } from "./operator-message.ts";
import { Operator } from "./operator.entity.ts";

/** An operator that exists, as the database has it now, with its keys. */
export async function readOperator(em: EntityManager, id: number): Promise<OperatorMessage> {
  const operator = await em.findOneOrFail(Operator, id, { refresh: true });
  return operatorMessage(operator, await workingKeysOf(em, id));
}
