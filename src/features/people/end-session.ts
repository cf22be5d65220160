import { create } from "@bufbuild/protobuf";
import {
  EndSessionResponseSchema,
  type EndSessionRequestValid,
  type EndSessionResponse,
} from "../../../gen/shipments/account/v1/account_service_pb.js";
import type { DatabaseDeps } from "../../db/orm.ts";
import { readRecordId } from "../../db/columns.ts";
import { refuse } from "../../domain/refusal.ts";
import type { PersonCall } from "../../pipeline/call.ts";
import { Session } from "./session.entity.ts";

/**
 * Ends a session of the person who has signed in, within a second everywhere. One that is bound to a
 * workspace can end those that are bound to the same.
 *
 * @throws Refusal SESSION_NOT_FOUND, for sessions of others alike
 */
export async function endSession(
  { session }: EndSessionRequestValid,
  { caller: { personId, boundTo } }: PersonCall,
  { em }: DatabaseDeps,
): Promise<EndSessionResponse> {
  const id = readRecordId(session) ?? 0;
  const ended = await em.fork().nativeDelete(Session, {
    id,
    person: personId,
    ...(boundTo === null ? {} : { workspace: boundTo }),
  });
  if (ended === 0) throw refuse("SESSION_NOT_FOUND");
  return create(EndSessionResponseSchema);
}
