export const statements = [
  `alter table "customer_figure" add constraint "customer_figure_workspace_id_customer_id_foreign" foreign key ("workspace_id", "customer_id") references "customer" ("workspace_id", "id") on update no action on delete cascade`,
];
