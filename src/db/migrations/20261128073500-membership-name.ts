export const statements = [
  `alter table "membership" add "name" text null, add "last_signed_in_at" timestamptz(3) null`,
];
