import type { EntityManager } from "../../db/orm.ts";
import { Customer } from "./customer.entity.ts";

/** Whom a booking is for, and what there is of them. */
export interface BookedCustomer {
  readonly workspace: number;
  readonly name: string;
  readonly email: string;
  /** The row of the customer it is for; null when there is none. */
  readonly row: object | null;
  /** The number for a new one; null when there is a row. */
  readonly newId: number | null;
}

/** The email as customers are told apart by it: without case. */
export function foldEmail(email: string): string {
  return email.toLowerCase();
}

/**
 * The customers that bookings are for, in the bookings' order, in the caller's unit of work: those
 * that are there, and a new one for each workspace, name and email that has none.
 *
 * If another transaction makes the same customer meanwhile, the unique constraint refuses this one
 * when it is flushed; tried again, its row is there.
 */
export function linkCustomers(
  tx: EntityManager,
  booked: readonly BookedCustomer[],
  now: Date,
): Customer[] {
  const made = new Map<string, Customer>();
  // In one order, so that transactions that make the same customers do not wait in a circle.
  for (const one of booked.filter(({ row }) => row === null).toSorted(byPerson)) {
    if (!made.has(personOf(one))) made.set(personOf(one), makeCustomer(tx, one, now));
  }
  return booked.map((one) =>
    one.row === null ? made.get(personOf(one))! : tx.map(Customer, one.row),
  );
}

function makeCustomer(
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

function personOf({ workspace, name, email }: BookedCustomer): string {
  return JSON.stringify([workspace, name, foldEmail(email)]);
}

function byPerson(a: BookedCustomer, b: BookedCustomer): number {
  const [one, other] = [personOf(a), personOf(b)];
  return one === other ? 0 : one < other ? -1 : 1;
}
