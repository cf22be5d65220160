export const statements = [`alter table "workspace" add "late_after_minutes" int not null default 240`];
