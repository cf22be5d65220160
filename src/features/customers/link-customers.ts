import { columnsOf, insertSql, type Row, rowsJson } from "../../db/columns.ts";
import { type CustomerRow, Customer } from "./customer.entity.ts";

/** The customer of a booking, as the request names it and as the database has it. */
export interface BookedCustomer {
  readonly workspace: number;
  readonly name: string;
  readonly email: string;
  /** The id number from now on; undefined to keep what the customer has. */
  readonly idNumber: string | undefined;
  /** The customer's row; null when there is none. */
  readonly row: CustomerRow | null;
  /** The id for a new customer; null when there is a row. */
  readonly newId: number | null;
}

/** The customers of bookings. */
export interface LinkedCustomers {
  /** In the order of the bookings, each as its booking leaves it. */
  readonly customers: readonly CustomerRow[];
  /** Those that are new or have another id number, to be written with their bookings. */
  readonly written: readonly WrittenCustomer[];
}

/** The email in the form in which customers are compared: in lower case. */
export function foldEmail(email: string): string {
  return email.toLowerCase();
}

/** Finds the customers of bookings, one new one for each workspace, name and email that has none. */
export function linkCustomers(booked: readonly BookedCustomer[], now: Date): LinkedCustomers {
  const linked = new Map<string, { readonly first: BookedCustomer; readonly row: CustomerRow }>();
  const customers = booked.map((one) => {
    const key = personKey(one.workspace, one.row ?? one);
    const { first, row: before } = linked.get(key) ?? { first: one, row: one.row ?? newRow(one) };
    const row = one.idNumber === undefined ? before : { ...before, idNumber: one.idNumber };
    linked.set(key, { first, row });
    return row;
  });
  const written = [...linked]
    .filter(([, { first, row }]) => row.idNumber !== first.row?.idNumber)
    // Sorted, so that transactions that write the same customers do not deadlock.
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { first, row }]) => ({
      ...row,
      workspace: first.workspace,
      emailLower: foldEmail(row.email),
      createdAt: now,
    }));
  return { customers, written };
}

function newRow({ newId, name, email }: BookedCustomer): CustomerRow {
  return { id: newId!, name, email, idNumber: null };
}

function personKey(workspace: number, { name, email }: Pick<CustomerRow, "name" | "email">) {
  return JSON.stringify([workspace, name, foldEmail(email)]);
}

/** A customer with all its columns. */
type WrittenCustomer = Row<Customer, never>;

const COLUMNS = columnsOf(Customer);

/** What `writeCustomersSql` writes. */
export function customersJson(written: readonly WrittenCustomer[]): string {
  return rowsJson(COLUMNS, written);
}

/**
 * The statement that inserts new customers, and writes the id numbers of those that exist, as a
 * part of a statement that writes what refers to them. It fails on the unique constraint when
 * another transaction has committed the same new customer.
 *
 * @param parameter the parameter, such as `$2`, that holds `customersJson`
 */
export function writeCustomersSql(parameter: string): string {
  return `${insertSql("customer", COLUMNS, parameter)}
    on conflict (workspace_id, id) do update set id_number = excluded.id_number`;
}
