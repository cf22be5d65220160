import { sql } from "@mikro-orm/postgresql";
import type { EntityManager } from "../../db/orm.ts";
import { Person } from "./person.entity.ts";

/**
 * The person with an email, whatever the case of its letters; added in the caller's transaction when
 * there is none. Two that add the same one at the same time find one.
 *
 * @param name for somebody new; the part of the email before the @ when not given
 */
export async function findOrAddPerson(
  tx: EntityManager,
  email: string,
  name: string | undefined,
): Promise<Person> {
  await tx.execute("select pg_advisory_xact_lock(hashtextextended('person ' || lower(?), 0))", [
    email,
  ]);
  const known = await tx.findOne(Person, { [sql`lower(email)`]: email.toLowerCase() });
  if (known !== null) return known;
  const person = tx.create(Person, {
    email,
    name: name ?? email.slice(0, email.indexOf("@")),
    createdAt: new Date(),
    lastSignedInAt: null,
  });
  await tx.flush();
  return person;
}
