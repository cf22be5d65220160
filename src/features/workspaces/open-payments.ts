import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse } from "../../domain/refusal.ts";
import type { PaymentConnection } from "./payment-connection.entity.ts";

const IS_OPEN = `
  select 1 from provider_payment where workspace_id = $1 and due_at is not null limit 1`;

/**
 * To be called once a connection was removed or replaced, so that no checkout can be opened between the two.
 *
 * @param removed as it was; null when there was none
 * @throws Refusal PAYMENTS_OPEN while payments or refunds are not settled at an account that is open to us
 */
export async function assertNoneOpen(
  em: EntityManager,
  removed: Pick<PaymentConnection, "workspace" | "state"> | null,
): Promise<void> {
  if (removed === null || removed.state === "revoked") return;
  const [open] = await runStatement(em, IS_OPEN, [removed.workspace]);
  if (open !== undefined) throw refuse("PAYMENTS_OPEN");
}
