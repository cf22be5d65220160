import type { EntityManager } from "../../db/orm.ts";
import { refuse } from "../../domain/refusal.ts";
import { Operator } from "./operator.entity.ts";

/**
 * Checks that an owner can stop being one, because there is another. Once operators are locked, so
 * that of two owners who go at the same time one stays.
 *
 * @throws Refusal OPERATOR_LAST_OWNER
 */
export async function assertAnotherOwner(
  tx: EntityManager,
  { id, role }: Pick<Operator, "id" | "role">,
): Promise<void> {
  if (role !== "owner") return;
  const others = { role: "owner", revokedAt: null, id: { $ne: id } } as const;
  if ((await tx.count(Operator, others)) > 0) return;
  throw refuse("OPERATOR_LAST_OWNER", "The operator is the last owner: make another one first.", {
    subject: "operator",
  });
}
