export const statements = [
  `create table "customer_roll_up" ("workspace_id" bigint not null, "position" bigint not null, "fill_before" bigint null, "rest_until" timestamptz(3) not null, primary key ("workspace_id"))`,
  `create table "customer_figure" ("workspace_id" bigint not null, "customer_id" bigint not null, "name" text not null, "value" bigint not null, primary key ("workspace_id", "customer_id", "name"))`,
  `create index "customer_figure_by_value" on "customer_figure" ("workspace_id", "name", "value", "customer_id")`,
  `alter table "customer_roll_up" add constraint "customer_roll_up_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update cascade on delete cascade`,
  `alter table "customer_figure" add constraint "customer_figure_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id")`,
];
