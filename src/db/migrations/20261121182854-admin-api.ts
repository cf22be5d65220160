import { Migration } from "@mikro-orm/migrations";

export class Migration20261121182854_admin_api extends Migration {
  override name = "Migration20261121182854_admin_api";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "audit_entry" ("id" bigserial primary key, "created_at" timestamptz(3) not null, "actor" text not null, "actor_name" text not null, "operator_id" bigint null, "action" text not null, "subject" text not null, "workspace_id" bigint null, "changes" jsonb not null, "request_id" text null);`,
    );
    this.addSql(`create index "audit_entry_by_creation" on "audit_entry" ("created_at", "id");`);
    this.addSql(
      `create index "audit_entry_of_workspace" on "audit_entry" ("workspace_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "audit_entry_of_operator" on "audit_entry" ("operator_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "audit_entry_of_action" on "audit_entry" ("action", "created_at", "id");`,
    );
    this.addSql(
      `create index "audit_entry_of_subject" on "audit_entry" ("subject", "created_at", "id");`,
    );

    this.addSql(
      `create table "operator" ("id" bigserial primary key, "name" text not null, "email" text null, "kind" text not null, "role" text not null, "created_at" timestamptz(3) not null, "revoked_at" timestamptz(3) null);`,
    );
    this.addSql(
      `create unique index operator_email_unique on operator (lower(email)) where revoked_at is null;`,
    );

    this.addSql(
      `create table "operator_key" ("hash" text not null, "operator_id" bigint not null, "id" text not null, "last4" char(4) not null, "created_at" timestamptz(3) not null, "ends_at" timestamptz(3) null, "changed_at" timestamptz(3) not null, "last_used_at" timestamptz(3) null, primary key ("hash"));`,
    );
    this.addSql(`create index "operator_key_of_operator" on "operator_key" ("operator_id");`);
    this.addSql(
      `alter table "operator_key" add constraint "operator_key_id_unique" unique ("id");`,
    );
    this.addSql(`create index "operator_key_by_end" on "operator_key" ("ends_at");`);
    this.addSql(`create index "operator_key_by_change" on "operator_key" ("changed_at");`);

    this.addSql(
      `create table "operator_stored_response" ("operator" bigint not null, "key" text not null, "method" text not null, "request_digest" text not null, "response" bytea not null, "created_at" timestamptz(3) not null, primary key ("operator", "key"));`,
    );
    this.addSql(
      `create index "operator_stored_response_by_age" on "operator_stored_response" ("created_at");`,
    );

    this.addSql(
      `create table "tariff_draft" ("id" bigserial primary key, "name" text not null, "author" text not null, "fees" json not null, "zones_bytes" bigint not null, "from_version" int null, "revision" int not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null);`,
    );

    this.addSql(
      `create table "tariff_draft_piece" ("draft_id" bigint not null, "begin" bigint not null, "data" bytea not null, primary key ("draft_id", "begin"));`,
    );

    this.addSql(
      `alter table "tariff_version" add "effective_at" timestamptz(3) not null default now(), add "called_off_at" timestamptz(3) null, add "author" text null, add "replaces" int null, add "repeats" int null, add "fees" jsonb generated always as (document::jsonb - 'zones') stored not null, add "zone_count" int generated always as (coalesce(json_array_length(document -> 'zones' -> 'features'), 0)) stored not null;`,
    );

    this.addSql(`alter table "workspace" add "suspended_at" timestamptz(3) null;`);
    this.addSql(`create index "workspace_by_name" on "workspace" ("name", "id");`);

    this.addSql(`create index "shipment_by_creation" on "shipment" ("created_at");`);

    this.addSql(
      `alter table "api_key" add "id" text not null default ('key_' || substr(md5(random()::text || clock_timestamp()::text), 1, 24)), add "name" text null, add "last_used_at" timestamptz(3) null;`,
    );
    this.addSql(`alter table "api_key" add constraint "api_key_id_unique" unique ("id");`);

    this.addSql(
      `alter table "audit_entry" add constraint "audit_entry_actor" check (actor in ('operator', 'command_line', 'api_key', 'service'));`,
    );

    this.addSql(`alter table "operator" add constraint "operator_name_given" check (name <> '');`);
    this.addSql(
      `alter table "operator" add constraint "operator_kind" check (kind in ('person', 'machine'));`,
    );
    this.addSql(
      `alter table "operator" add constraint "operator_role" check (role in ('viewer', 'operator', 'owner'));`,
    );
    this.addSql(
      `alter table "operator" add constraint "operator_person_has_email" check (kind = 'machine' or email is not null);`,
    );

    this.addSql(
      `alter table "operator_key" add constraint "operator_key_operator_id_foreign" foreign key ("operator_id") references "operator" ("id");`,
    );
    this.addSql(
      `alter table "operator_key" add constraint "operator_key_hash_form" check (hash ~ '^[A-Za-z0-9_-]{43}\$');`,
    );

    this.addSql(
      `alter table "operator_stored_response" add constraint "operator_stored_response_key_form" check (key ~ '^[!-~]{1,255}\$');`,
    );

    this.addSql(
      `alter table "tariff_draft_piece" add constraint "tariff_draft_piece_draft_id_foreign" foreign key ("draft_id") references "tariff_draft" ("id") on delete cascade;`,
    );
  }
}
