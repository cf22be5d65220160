import { AccountService } from "../../gen/shipments/account/v1/account_service_pb.js";
import type { DatabaseDeps } from "../db/orm.ts";
import { createTransact } from "../features/idempotency/with-idempotency.ts";
import { ACCOUNT_FUNCTIONS } from "../features/people/account-functions.ts";
import { listRpcs, type Rpc } from "../pipeline/rpc.ts";

/** The services that people who have signed in can call for themselves. */
export const ACCOUNT_SERVICES = [AccountService];

/** Pairs every RPC of `ACCOUNT_SERVICES` with the function that performs it. */
export function implementAccountServices(deps: DatabaseDeps): readonly Rpc[] {
  return listRpcs(AccountService, ACCOUNT_FUNCTIONS, deps, createTransact(deps));
}
