export const statements = [
  `alter table "courier_link" add constraint "courier_link_workspace_id_courier_id_foreign" foreign key ("workspace_id", "courier_id") references "courier" ("workspace_id", "id") on update no action on delete no action`,
];
