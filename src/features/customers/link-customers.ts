import { columnsOf, insertionOf, rowsJson } from "../../db/columns.ts";
import type { Statement } from "../../db/statement.ts";
import { type CustomerRow, Customer } from "./customer.entity.ts";

/** The customer of a booking, as requested and as stored. */
export interface BookedCustomer {
  readonly name: string;
  readonly email: string;
  /** New id number. `undefined` keeps the stored number. */
  readonly idNumber: string | undefined;
  readonly row: CustomerRow | null;
  readonly newId: number;
}

export interface LinkedCustomers {
  /** The customer of each booking, in order, as changed by that booking. */
  readonly customers: readonly CustomerRow[];
  /** New customers and customers with a changed id number, which must be written with the bookings. */
  readonly changed: readonly ChangedCustomer[];
}

interface ChangedCustomer extends CustomerRow {
  readonly isNew: boolean;
  readonly emailLower: string;
  readonly createdAt: Date;
}

/** Converts an email to lower case for comparison. */
export function foldEmail(email: string): string {
  return email.toLowerCase();
}

/** Finds or creates the customer of each booking. Bookings with the same new name and email share one customer. */
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
    // Sorted to prevent deadlocks between transactions that write the same customers.
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { first, row }]) => ({
      ...row,
      isNew: first.row === null,
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

const COLUMNS = columnsOf(Customer, "workspace", "phone", "notes", "defaultPickup", "defaultDropoff", "version");

const insertion = insertionOf("customer", COLUMNS);

/**
 * Updates id numbers. The separate list of ids prevents PostgreSQL from reading all customers of the workspace. A
 * customer that was merged in the meantime is not updated, and the foreign key then rejects its shipments.
 */
const UPDATE = `
  update customer set id_number = written.id_number, version = customer.version + 1
  from json_to_recordset($2) as written (id bigint, id_number text)
  where customer.workspace_id = $1 and customer.id = any ($3::bigint[]) and customer.id = written.id`;

/**
 * Returns the statements that insert new customers and update id numbers. They fail with a unique
 * violation if another transaction has committed the same new customer.
 */
export function customerStatements(workspace: number, changed: LinkedCustomers["changed"]): Statement[] {
  const [fresh, known] = [true, false].map((isNew) => changed.filter((it) => it.isNew === isNew));
  const statements: Statement[] = [];
  if (known!.length > 0) {
    const ids = known!.map(({ id }) => id);
    statements.push([UPDATE, [workspace, rowsJson(NUMBERS, known!), ids]]);
  }
  if (fresh!.length > 0) statements.push(insertion(workspace, fresh!));
  return statements;
}

const NUMBERS = COLUMNS.filter(({ property }) => ["id", "idNumber"].includes(property));
