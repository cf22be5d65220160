export const statements = [`alter table "person" alter column "name" drop not null`];
