import { AccountService } from "../../gen/shipments/account/v1/account_service_pb.js";
import type { DatabaseDeps } from "../db/orm.ts";
import { endSession } from "../features/people/end-session.ts";
import { getAccount } from "../features/people/get-account.ts";
import { listSessions } from "../features/people/list-sessions.ts";
import {
  deleteSavedFilter,
  listSavedFilters,
  renameSavedFilter,
  saveFilter,
} from "../features/people/saved-filters.ts";
import { updateAccount } from "../features/people/update-account.ts";
import type { PersonCall } from "../pipeline/call.ts";
import { listRpcs, type Rpc, type ServiceFunctions } from "../pipeline/rpc.ts";

/** The services that people who have signed in can call for themselves. */
export const ACCOUNT_SERVICES = [AccountService];

/** Pairs every RPC of `ACCOUNT_SERVICES` with the function that performs it. */
export function implementAccountServices(deps: DatabaseDeps): readonly Rpc[] {
  const functions: ServiceFunctions<typeof AccountService, PersonCall, DatabaseDeps> = {
    getAccount,
    updateAccount,
    listSessions,
    endSession,
    listSavedFilters,
    saveFilter,
    renameSavedFilter,
    deleteSavedFilter,
  };
  return listRpcs(AccountService, functions, deps);
}
