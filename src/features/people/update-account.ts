import { create } from "@bufbuild/protobuf";
import {
  UpdateAccountResponseSchema,
  type UpdateAccountRequestValid,
  type UpdateAccountResponse,
} from "../../../gen/shipments/account/v1/account_service_pb.js";
import type { DatabaseDeps, EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import type { PersonCall } from "../../pipeline/call.ts";
import { loadAccount } from "./get-account.ts";
import { Person } from "./person.entity.ts";

/**
 * Changes the name of the person who has signed in. A session that a workspace's link began must not
 * change what others see of the person: the workspace's admins could have used the link.
 *
 * @throws Refusal SESSION_BOUND when the session acts in one workspace and the person elsewhere too
 */
export async function updateAccount(
  { name }: UpdateAccountRequestValid,
  { caller }: PersonCall,
  { em }: DatabaseDeps,
): Promise<UpdateAccountResponse> {
  const writing = em.fork();
  if (caller.boundTo !== null && (await actsElsewhere(writing, caller))) {
    throw refuse("SESSION_BOUND");
  }
  await writing.nativeUpdate(Person, { id: caller.personId }, { name });
  return create(UpdateAccountResponseSchema, { data: await loadAccount(writing, caller) });
}

/** Whether the person is known to another workspace, or to the platform. */
async function actsElsewhere(
  em: EntityManager,
  { personId, boundTo }: PersonCall["caller"],
): Promise<boolean> {
  const [row] = await runStatement<{ found: boolean }>(
    em,
    `select exists (select from membership where person_id = $1 and workspace_id <> $2)
       or exists (
         select from operator join person on lower(person.email) = lower(operator.email)
         where person.id = $1 and operator.kind = 'person' and operator.revoked_at is null
       ) as found`,
    [personId, boundTo],
  );
  return row!.found;
}
