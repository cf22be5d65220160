import { includesRole, type KeyScope, MEMBER_ROLES, OPERATOR_ROLES } from "../../domain/roles.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import type { Caller, WorkspaceCaller } from "../call.ts";
import type { Rpc, StreamRpc } from "../rpc.ts";

/**
 * Checks that the caller may call an RPC.
 *
 * @throws Refusal WORKSPACE_SUSPENDED, SCOPE_INSUFFICIENT, ROLE_INSUFFICIENT, LIVE_MODE_ONLY, TEST_MODE_ONLY
 */
export function assertMayCall(rpc: Rpc | StreamRpc, caller: Caller): void {
  if (caller.audience === "workspace") {
    assertNotSuspended(caller);
    const { member, keyScope, courier } = caller;
    if (courier !== undefined) {
      if (!rpc.forCourierLinks) throw courierError(rpc);
    } else if (keyScope !== undefined && !mayCall(keyScope, rpc)) throw scopeError(rpc, keyScope);
    const needed = rpc.minimumMemberRole;
    if (member !== undefined && !includesRole(MEMBER_ROLES, member.role, needed)) {
      throw roleError(rpc, needed, member.role);
    }
    if (rpc.mode === "live" && caller.test) throw refuse("LIVE_MODE_ONLY");
    if (rpc.mode === "test" && !caller.test) throw refuse("TEST_MODE_ONLY");
  } else if (caller.audience === "operator" && !includesRole(OPERATOR_ROLES, caller.role, rpc.minimumRole)) {
    throw roleError(rpc, rpc.minimumRole, caller.role);
  }
}

/** @throws Refusal WORKSPACE_SUSPENDED */
export function assertNotSuspended({ suspended }: WorkspaceCaller): void {
  if (suspended) throw refuse("WORKSPACE_SUSPENDED");
}

function mayCall(scope: KeyScope, { limitClass, forCouriers }: Rpc | StreamRpc): boolean {
  if (scope === "courier") return forCouriers;
  return scope === "full" || limitClass !== "write";
}

function courierError({ method }: Rpc | StreamRpc): Refusal {
  return refuse("SCOPE_INSUFFICIENT", `${method.name} cannot be called with a courier's link.`);
}

function scopeError(rpc: Rpc | StreamRpc, scope: KeyScope): Refusal {
  const { method, limitClass, forCouriers } = rpc;
  const other = limitClass !== "write" ? "read_only or " : forCouriers ? "courier or " : "";
  const needed = `${other}full`;
  const text = `${method.name} requires a key with the scope ${needed}. Your key has the scope ${scope}.`;
  return refuse("SCOPE_INSUFFICIENT", text);
}

function roleError({ method }: Rpc | StreamRpc, needed: string, role: string): Refusal {
  return refuse("ROLE_INSUFFICIENT", `${method.name} requires the role ${needed}. Your role is ${role}.`);
}
