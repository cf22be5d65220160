export const statements = [
  `alter table "courier_session" add constraint "courier_session_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id")`,
  `alter table "courier_session" add constraint "courier_session_workspace_id_link_id_foreign" foreign key ("workspace_id", "link_id") references "courier_link" ("workspace_id", "id") on update no action on delete cascade`,
];
