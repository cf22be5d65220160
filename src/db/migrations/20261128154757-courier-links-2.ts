export const statements = [
  `alter table "courier_link" add constraint "courier_link_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id")`,
];
