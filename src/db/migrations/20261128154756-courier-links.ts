export const statements = [
  `create table "courier_link" ("workspace_id" bigint not null, "id" text not null, "courier_id" text not null, "hash" text not null, "created_by" text not null, "created_at" timestamptz(3) not null, "ends_at" timestamptz(3) not null, primary key ("workspace_id", "id"))`,
  `create index "courier_link_by_end" on "courier_link" ("ends_at")`,
  `create index "courier_link_of_courier" on "courier_link" ("workspace_id", "courier_id")`,
  `alter table "courier_link" add constraint "courier_link_hash" unique ("workspace_id", "hash")`,
  `create table "courier_session" ("workspace_id" bigint not null, "hash" text not null, "link_id" text not null, "user_agent" text not null, "created_at" timestamptz(3) not null, "last_seen_at" timestamptz(3) not null, primary key ("workspace_id", "hash"))`,
  `create index "courier_session_of_link" on "courier_session" ("workspace_id", "link_id")`,
  `alter table "audit_entry" drop constraint "audit_entry_actor"`,
  `alter table "audit_entry" add constraint "audit_entry_actor" check (actor in ('operator', 'command_line', 'api_key', 'service', 'person', 'courier')) not valid`,
];
