export const statements = [
  `create table "courier" ("workspace_id" bigint not null, "id" text not null, "name" text not null, "phone" text null, "vehicle" text null, "external_id" text null, "locale" text null, "note" text null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "archived_at" timestamptz(3) null, "version" int not null default 1, primary key ("workspace_id", "id"))`,
  `create index "courier_by_creation" on "courier" ("workspace_id", "created_at", "id")`,
  `create unique index "courier_external_id" on "courier" ("workspace_id", "external_id") where "archived_at" is null`,
  `alter table "courier" add constraint "courier_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id")`,
];
