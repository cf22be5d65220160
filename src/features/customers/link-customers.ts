import type { EntityManager } from "../../db/orm.ts";
import { Customer } from "./customer.entity.ts";

/** The customer of a booking, as the request names it and as the database has it. */
export interface BookedCustomer {
  readonly workspace: number;
  readonly name: string;
  readonly email: string;
  /** The customer's row; null when there is none. */
  readonly row: object | null;
  /** The id for a new customer; null when there is a row. */
  readonly newId: number | null;
}

/** The email in the form in which customers are compared: in lower case. */
export function foldEmail(email: string): string {
  return email.toLowerCase();
}

/**
 * Loads the customers of bookings into the caller's unit of work from their rows, and creates one
 * for each workspace, name and email that has none.
 *
 * If another transaction commits the same new customer first, the flush fails on the unique
 * constraint; a retry finds the row.
 *
 * @returns the customers, in the order of the bookings
 */
export function linkCustomers(
  tx: EntityManager,
  booked: readonly BookedCustomer[],
  now: Date,
): Customer[] {
  const created = new Map<string, Customer>();
  // Sorted, so that transactions that insert the same customers do not deadlock.
  for (const one of booked.filter(({ row }) => row === null).toSorted(byPerson)) {
    if (!created.has(personKey(one))) created.set(personKey(one), createCustomer(tx, one, now));
  }
  return booked.map((one) =>
    one.row === null ? created.get(personKey(one))! : tx.map(Customer, one.row),
  );
}

function createCustomer(
  tx: EntityManager,
  { workspace, newId, name, email }: BookedCustomer,
  createdAt: Date,
): Customer {
  return tx.create(Customer, {
    workspace,
    id: newId!,
    name,
    email,
    emailLower: foldEmail(email),
    idNumber: null,
    createdAt,
  });
}

function personKey({ workspace, name, email }: BookedCustomer): string {
  return JSON.stringify([workspace, name, foldEmail(email)]);
}

function byPerson(a: BookedCustomer, b: BookedCustomer): number {
  const [one, other] = [personKey(a), personKey(b)];
  return one === other ? 0 : one < other ? -1 : 1;
}
