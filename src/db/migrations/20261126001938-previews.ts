/** Each statement runs in its own transaction, so that rows can be written while constraints are validated. */
export const isTransactional = false;

export const statements = [
  `alter table "usage_hour" drop constraint if exists "usage_hour_class",
      add constraint "usage_hour_class" check (limit_class in ('quote', 'read', 'write', 'preview')) not valid`,
  `alter table "usage_hour" validate constraint "usage_hour_class"`,
];
