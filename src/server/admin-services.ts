import type { DescService } from "@bufbuild/protobuf";
import type { EntityManager } from "../db/orm.ts";
import type { Rpc } from "../pipeline/rpc.ts";

/** The services that callers with an operator's key can call. */
export const ADMIN_SERVICES: readonly DescService[] = [];

/** What the RPCs of operators work with. */
export interface AdminDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
}

/** Pairs every RPC of `ADMIN_SERVICES` with the function that performs it. */
export function implementAdminServices(_deps: AdminDeps): readonly Rpc[] {
  return [];
}
