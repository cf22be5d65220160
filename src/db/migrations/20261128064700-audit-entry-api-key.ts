export const statements = [`alter table "audit_entry" add column "api_key" jsonb null`];
