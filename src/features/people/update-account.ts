import { create } from "@bufbuild/protobuf";
import {
  UpdateAccountResponseSchema,
  type UpdateAccountRequestValid,
  type UpdateAccountResponse,
} from "../../../gen/shipments/account/v1/account_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { PersonCall } from "../../pipeline/call.ts";
import { readAccount } from "./get-account.ts";
import { Person } from "./person.entity.ts";

/** Changes the name of the person who has signed in. */
export async function updateAccount(
  { name }: UpdateAccountRequestValid,
  { caller }: PersonCall,
  em: EntityManager,
): Promise<UpdateAccountResponse> {
  const writing = em.fork();
  await writing.nativeUpdate(Person, { id: caller.personId }, { name });
  return create(UpdateAccountResponseSchema, { data: await readAccount(writing, caller) });
}
