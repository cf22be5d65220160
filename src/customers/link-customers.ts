import type { EntityManager } from "../db/orm.ts";
import { runStatement } from "../db/statement.ts";
import { Customer } from "./customer.entity.ts";

/** How a booking says whom it is for. */
export interface CustomerInput {
  readonly workspace: number;
  readonly name: string;
  readonly email: string;
  /** An existing customer; ignored when the workspace has none with this id. */
  readonly id: number | undefined;
}

/**
 * The customers that bookings are for, in the caller's unit of work and in the bookings' order,
 * each of its booking's workspace: the one with the given id, else the one with the same name and
 * email (compared without case), else a new one, which bookings for the same person share.
 *
 * If another transaction makes the same customer meanwhile, the unique constraint refuses this one
 * when it is flushed; tried again, it finds that customer.
 */
export async function linkCustomers(
  tx: EntityManager,
  inputs: readonly CustomerInput[],
  now: Date,
): Promise<Customer[]> {
  const persons = inputs.map((input) => ({ ...input, emailLower: input.email.toLowerCase() }));
  const found = await findOrNumber(tx, persons);
  const made = new Map<string, Customer>();
  // In one order, so that transactions that make the same customers do not wait in a circle.
  for (const i of placesInOrder(persons.map(keyOf))) {
    const person = persons[i]!;
    const { newId } = found[i]!;
    if (newId === null || made.has(keyOf(person))) continue;
    const customer = { ...person, id: Number(newId), idNumber: null, createdAt: now };
    made.set(keyOf(person), tx.create(Customer, customer));
  }
  return found.map(({ newId, ...row }, i) =>
    newId === null ? tx.map(Customer, row) : made.get(keyOf(persons[i]!))!,
  );
}

type Person = Omit<CustomerInput, "id"> & { readonly emailLower: string };

/** A customer's row; or only a number for a new one, when there is none. */
type Row = Record<string, unknown> & { readonly newId: string | null };

async function findOrNumber(
  tx: EntityManager,
  persons: readonly (Person & Pick<CustomerInput, "id">)[],
): Promise<Row[]> {
  if (persons.length === 0) return [];
  return runStatement<Row>(
    tx,
    `select customer.*, case when customer.id is null then nextval('customer_id_seq') end as "newId"
     from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[])
       with ordinality as wanted (workspace, id, name, email_lower, place)
     left join customer as named
       on named.workspace_id = wanted.workspace and named.id = wanted.id
     left join customer as same
       on named.id is null and same.workspace_id = wanted.workspace
       and same.name = wanted.name and same.email_lower = wanted.email_lower
     left join customer
       on customer.workspace_id = wanted.workspace and customer.id = coalesce(named.id, same.id)
     order by place`,
    [
      persons.map(({ workspace }) => workspace),
      persons.map(({ id }) => id ?? null),
      persons.map(({ name }) => name),
      persons.map(({ emailLower }) => emailLower),
    ],
  );
}

function keyOf({ workspace, name, emailLower }: Person): string {
  return JSON.stringify([workspace, name, emailLower]);
}

/** Where the keys are, from the least to the greatest; of equal ones, the first comes first. */
function placesInOrder(keys: readonly string[]): number[] {
  return [...keys.keys()].toSorted((a, b) =>
    keys[a]! < keys[b]! ? -1 : keys[a] === keys[b] ? 0 : 1,
  );
}
