export const statements = [`alter table "api_request" add column if not exists "path" text null;`];
