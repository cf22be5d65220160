export const statements = [
  `create table "api_request" ("workspace_id" bigint not null, "id" bigserial not null, "started_at" timestamptz(3) not null, "method" text not null, "outcome" text not null, "code" text not null, "http_status" int not null, "duration_ms" int not null, "request_id" text not null, "reason" text null, "message" text null, "caller" text not null, primary key ("workspace_id", "id"));`,
  `create index "api_request_by_age" on "api_request" ("started_at");`,
  `alter table "api_request" add constraint "api_request_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`,
];
