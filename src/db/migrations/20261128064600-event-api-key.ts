export const statements = [`alter table "event" add column "api_key" jsonb null`];
