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
