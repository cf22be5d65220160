export const statements = [`alter table "courier" add "email" text null`];
