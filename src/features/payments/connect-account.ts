import type { EntityManager } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import type { PaymentConnection } from "../workspaces/payment-connection.entity.ts";
import { nextCheck } from "./check-accounts.ts";
import { MANUAL } from "./manual.ts";
import { changeConnection, modeOf } from "./payment-connections.ts";
import type { AccountAtProvider } from "./payment-provider.ts";

/**
 * Connects an account as it was read, in the place of what was connected.
 *
 * @param columns those that depend on how it is connected
 * @throws Refusal PAYMENTS_OPEN when another account is left with payments that are open
 */
export async function connectAccount(
  tx: EntityManager,
  call: Call,
  read: AccountAtProvider,
  columns: Pick<PaymentConnection, "provider" | "ownKey" | "noticeSecrets">,
  now: Date,
): Promise<PaymentConnection> {
  const connection = await changeConnection(tx, call, async (before) => {
    const isSame = before?.account === read.account;
    const { connectedAt, heardUntil } = isSame ? before : { connectedAt: now, heardUntil: null };
    const kept = {
      live: modeOf(call) === "live",
      replacedManual: before?.provider === MANUAL.name || before?.replacedManual === true,
      connectedAt,
      heardUntil,
    };
    return { ...columns, ...kept, ...accountColumns(read, now) };
  });
  return connection!;
}

/** The columns of a connection that say what was read of its account. */
export function accountColumns({ account, state, missing }: AccountAtProvider, checkedAt: Date) {
  return { account, state, missing, checkedAt, checkAt: nextCheck(state, checkedAt) };
}
