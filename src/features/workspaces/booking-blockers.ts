import { BookingBlocker } from "../../../gen/shipments/v1/workspace_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { PaymentConnection } from "./payment-connection.entity.ts";

/** What finding out about blockers needs. */
export interface BookingDeps {
  readonly em: EntityManager;
  /** Whether a tariff is in force now. */
  readonly hasTariffInForce: (em: EntityManager) => Promise<boolean>;
}

/** What stands in the way of every booking in a workspace now. */
export async function loadBookingBlockers(
  em: EntityManager,
  workspace: number,
  hasTariffInForce: BookingDeps["hasTariffInForce"],
): Promise<BookingBlocker[]> {
  const connection = await em.findOne(PaymentConnection, { workspace });
  const blockers: BookingBlocker[] = [];
  if (connection?.state !== "ready") blockers.push(BookingBlocker.PAYMENT_PROVIDER);
  if (!(await hasTariffInForce(em))) blockers.push(BookingBlocker.TARIFF);
  return blockers;
}
