import {
  OperatorService,
  type CreateOperatorSignInLinkRequestValid,
  type CreateOperatorSignInLinkResponse,
} from "../../../gen/shipments/admin/v1/operator_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { describeActor } from "../audit/record-change.ts";
import { findOrInsertPerson, insertSignInLink } from "../people/sign-in.ts";
import { assertSelfOrOwner, changeOperator } from "./operators.ts";

/**
 * Gives an operator that is a person a link to sign in by.
 *
 * @returns the operator and the link, which no other call shows
 * @throws Refusal OPERATOR_NOT_FOUND, OPERATOR_REVOKED, ROLE_INSUFFICIENT when it is for another
 * operator and the caller is no owner, FIELD_INVALID for a machine
 */
export async function createOperatorSignInLink(
  request: CreateOperatorSignInLinkRequestValid,
  call: OperatorCall,
  { em }: DatabaseDeps,
): Promise<CreateOperatorSignInLinkResponse> {
  const method = OperatorService.method.createOperatorSignInLink;
  return changeOperator(em, method, request, call, async (tx, operator) => {
    assertSelfOrOwner(call.caller, operator, "Links for");
    if (operator.kind === "machine") {
      throw refuse("FIELD_INVALID", "operator is a machine, which does not sign in.", {
        subject: "operator",
      });
    }
    const person = await findOrInsertPerson(tx, operator.email!, operator.name);
    const madeBy = call.caller.operatorId === operator.id ? null : describeActor(call);
    const link = { personId: person.id, workspaceId: null, madeBy };
    return { changes: [], signInPath: await insertSignInLink(tx, link) };
  });
}
