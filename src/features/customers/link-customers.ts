import type { CustomerRow } from "./customer-row.ts";

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
interface LinkedCustomers {
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
  const createdAt = now.toISOString();
  const written = [...linked]
    .filter(([, { first, row }]) => row.idNumber !== first.row?.idNumber)
    // Sorted, so that transactions that write the same customers do not deadlock.
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { first, row }]) => ({
      ...row,
      workspace: first.workspace,
      emailLower: foldEmail(row.email),
      createdAt,
    }));
  return { customers, written };
}

function newRow({ newId, name, email }: BookedCustomer): CustomerRow {
  return { id: newId!, name, email, idNumber: null };
}

function personKey(workspace: number, { name, email }: Pick<CustomerRow, "name" | "email">) {
  return JSON.stringify([workspace, name, foldEmail(email)]);
}

/** A customer, as `writeCustomersSql` takes it in JSON. */
export interface WrittenCustomer {
  readonly workspace: number;
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly emailLower: string;
  readonly idNumber: string | null;
  /** RFC 3339; for a new customer. */
  readonly createdAt: string;
}

/**
 * The statement that inserts new customers, and writes the id numbers of those that exist, as a
 * part of a statement that writes what refers to them. It fails on the unique constraint when
 * another transaction has committed the same new customer.
 *
 * @param parameter the parameter, such as `$2`, that holds a JSON list of `WrittenCustomer`
 */
export function writeCustomersSql(parameter: string): string {
  return `
    insert into customer (workspace_id, id, name, email, email_lower, id_number, created_at)
    select workspace, id, name, email, "emailLower", "idNumber", "createdAt"
    from json_to_recordset(${parameter}) as written (
      workspace bigint, id bigint, name text, email text, "emailLower" text, "idNumber" text,
      "createdAt" timestamptz)
    on conflict (workspace_id, id) do update set id_number = excluded.id_number`;
}
