export const statements = [`alter table "workspace" add "tracking_logo" bytea null`];
