import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/** A person who can sign in. Never deleted, so that their recorded actions still show their name. */
export const Person = defineEntity({
  name: "Person",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    email: p.text(),
    /** Name that the person chose, or that was copied from the operator. null if there is no name yet. */
    name: p.text().nullable(),
    createdAt: p.datetime(3),
    /** Last sign-in by any method. Never visible to workspaces. null if the person has not signed in. */
    lastSignedInAt: p.datetime(3).nullable(),
  },
  indexes: [
    {
      name: "person_email_unique",
      expression: "create unique index person_email_unique on person (lower(email))",
    },
  ],
  checks: [
    { name: "person_name_given", expression: "name <> ''" },
    { name: "person_email_given", expression: "email <> ''" },
  ],
});

export type Person = InferEntity<typeof Person>;
