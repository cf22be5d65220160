import type { EntityManager } from "../db/orm.ts";
import { Customer } from "./customer.entity.ts";

/** How a booking says whom it is for. */
export interface CustomerInput {
  readonly name: string;
  readonly email: string;
  /** An existing customer; ignored when the workspace has none with this id. */
  readonly id: number | undefined;
  /** National id or the like; kept on the customer when given. */
  readonly idNumber: string | undefined;
}

/**
 * The customer of the workspace that a booking is for, in the caller's transaction: the one with
 * the given id, else the one with the same name and email (compared without case), else a new one.
 * The unique constraint makes two bookings at once agree on one customer.
 */
export async function linkCustomer(
  em: EntityManager,
  workspaceId: number,
  input: CustomerInput,
  now: Date,
): Promise<Customer> {
  const customer =
    (await findById(em, workspaceId, input.id)) ?? (await findOrMake(em, workspaceId, input, now));
  if (input.idNumber !== undefined) customer.idNumber = input.idNumber;
  return customer;
}

async function findById(em: EntityManager, workspace: number, id: number | undefined) {
  return id === undefined ? null : em.findOne(Customer, { workspace, id });
}

async function findOrMake(
  em: EntityManager,
  workspace: number,
  { name, email, idNumber }: CustomerInput,
  createdAt: Date,
): Promise<Customer> {
  const emailLower = email.toLowerCase();
  const known = await em.findOne(Customer, { workspace, name, emailLower });
  if (known !== null) return known;
  return em.upsert(
    Customer,
    { workspace, name, email, emailLower, idNumber: idNumber ?? null, createdAt },
    { onConflictFields: ["workspace", "name", "emailLower"], onConflictAction: "ignore" },
  );
}
