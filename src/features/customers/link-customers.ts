import { columnsOf, insertionOf, type Row } from "../../db/columns.ts";
import { type CustomerRow, Customer } from "./customer.entity.ts";

/** The customer of a booking, as the request names it and as the database has it. */
export interface BookedCustomer {
  readonly name: string;
  readonly email: string;
  /** The id number from now on; undefined to keep what the customer has. */
  readonly idNumber: string | undefined;
  /** The customer's row; null when there is none. */
  readonly row: CustomerRow | null;
  /** The id that a new customer has. */
  readonly newId: number;
}

/** The customers of bookings. */
export interface LinkedCustomers {
  /** In the order of the bookings, each as its booking leaves it. */
  readonly customers: readonly CustomerRow[];
  /** Those that are new or have another id number, to be written with their bookings. */
  readonly changed: readonly WrittenCustomer[];
}

/** The email in the form in which customers are compared: in lower case. */
export function foldEmail(email: string): string {
  return email.toLowerCase();
}

/** Finds the customers of a workspace's bookings, one new one for each name and email that has none. */
export function linkCustomers(booked: readonly BookedCustomer[], now: Date): LinkedCustomers {
  const linked = new Map<string, { readonly first: BookedCustomer; readonly row: CustomerRow }>();
  const customers = booked.map((one) => {
    const key = personKey(one.row ?? one);
    const { first, row: before } = linked.get(key) ?? { first: one, row: one.row ?? newRow(one) };
    const row = one.idNumber === undefined ? before : { ...before, idNumber: one.idNumber };
    linked.set(key, { first, row });
    return row;
  });
  const changed = [...linked]
    .filter(([, { first, row }]) => row.idNumber !== first.row?.idNumber)
    // Sorted, so that transactions that write the same customers do not deadlock.
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { row }]) => ({
      ...row,
      emailLower: foldEmail(row.email),
      createdAt: now,
    }));
  return { customers, changed };
}

function newRow({ newId, name, email }: BookedCustomer): CustomerRow {
  return { id: newId, name, email, idNumber: null };
}

function personKey({ name, email }: Pick<CustomerRow, "name" | "email">) {
  return JSON.stringify([name, foldEmail(email)]);
}

/** A customer with all its columns but the workspace. */
type WrittenCustomer = Row<Customer, "workspace">;

const COLUMNS = columnsOf(Customer, "workspace");

/**
 * The statement that inserts new customers of a workspace, and writes the id numbers of those that exist.
 * It fails on the unique constraint when another transaction has committed the same new customer.
 */
export const writeCustomers = insertionOf("customer", COLUMNS, {
  onConflict: "on conflict (workspace_id, id) do update set id_number = excluded.id_number",
});
