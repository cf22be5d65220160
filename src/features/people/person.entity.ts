import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/** A person who can sign in. Never deleted, so that their actions keep their name. */
export const Person = defineEntity({
  name: "Person",
  tableName: "person",
  properties: {
    id: p.bigint("number").primary().autoincrement(),
    email: p.text(),
    /** Chosen by the person, or copied from the operator. Null otherwise. */
    name: p.text().nullable(),
    createdAt: p.datetime(3),
    /** Last sign-in by any means, never shown to workspaces. Null if there is none. */
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
