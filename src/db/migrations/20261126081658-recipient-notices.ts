export const statements = [
  `create table "recipient_opt_out" ("workspace_id" bigint not null, "email_hash" text not null, "created_at" timestamptz(3) not null, primary key ("workspace_id", "email_hash"));`,
  `create table "recipient_notice" ("workspace_id" bigint not null, "shipment_reference" text not null, "kind" text not null, "state" text not null default 'waiting', "created_at" timestamptz(3) not null, "next_attempt_at" timestamptz(3) not null, "attempts" int not null default 0, primary key ("workspace_id", "shipment_reference", "kind"));`,
  `create index "recipient_notice_by_age" on "recipient_notice" ("created_at");`,
  `create index "recipient_notice_due" on "recipient_notice" ("next_attempt_at") where state = 'waiting';`,
  `create index "recipient_notice_of_workspace" on "recipient_notice" ("workspace_id", "created_at");`,
  `alter table "workspace" add "notifies_recipients" boolean not null default false;`,
  `alter table "recipient_opt_out" add constraint "recipient_opt_out_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update no action on delete no action;`,
  `alter table "recipient_notice" add constraint "recipient_notice_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update no action on delete no action;`,
  `alter table "recipient_notice" add constraint "recipient_notice_kind" check (kind in ('awaiting_pickup', 'in_transit', 'at_dropoff', 'attempt_failed', 'delivered', 'returned', 'cancelled'));`,
  `alter table "recipient_notice" add constraint "recipient_notice_state" check (state in ('waiting', 'sent', 'failed'));`,
];
