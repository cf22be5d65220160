export const statements = [`alter table "event" add "courier" jsonb null`];
