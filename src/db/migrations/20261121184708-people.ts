import { Migration } from "@mikro-orm/migrations";

export class Migration20261121184708_people extends Migration {
  override name = "Migration20261121184708_people";

  override up(): void | Promise<void> {
    this.addSql(
      `create table "person" ("id" bigserial primary key, "email" text not null, "name" text not null, "created_at" timestamptz(3) not null, "last_signed_in_at" timestamptz(3) null);`,
    );
    this.addSql(`create unique index person_email_unique on person (lower(email));`);

    this.addSql(
      `create table "session" ("hash" text not null, "id" bigserial, "person_id" bigint not null, "user_agent" text not null, "created_at" timestamptz(3) not null, "last_seen_at" timestamptz(3) not null, "ends_at" timestamptz(3) not null, primary key ("hash"));`,
    );
    this.addSql(`alter table "session" add constraint "session_id_unique" unique ("id");`);
    this.addSql(`create index "session_of_person" on "session" ("person_id");`);
    this.addSql(`create index "session_by_end" on "session" ("ends_at");`);

    this.addSql(
      `create table "sign_in_link" ("hash" text not null, "person_id" bigint not null, "created_at" timestamptz(3) not null, "ends_at" timestamptz(3) not null, primary key ("hash"));`,
    );
    this.addSql(`create index "sign_in_link_of_person" on "sign_in_link" ("person_id");`);
    this.addSql(`create index "sign_in_link_by_end" on "sign_in_link" ("ends_at");`);

    this.addSql(
      `create table "membership" ("workspace_id" bigint not null, "person_id" bigint not null, "role" text not null, "created_at" timestamptz(3) not null, primary key ("workspace_id", "person_id"));`,
    );
    this.addSql(`create index "membership_of_person" on "membership" ("person_id");`);

    this.addSql(`alter table "audit_entry" drop constraint "audit_entry_actor";`);
    this.addSql(
      `alter table "audit_entry" add constraint "audit_entry_actor" check (actor in ('operator', 'command_line', 'api_key', 'service', 'person'));`,
    );

    this.addSql(`alter table "person" add constraint "person_name_given" check (name <> '');`);
    this.addSql(`alter table "person" add constraint "person_email_given" check (email <> '');`);

    this.addSql(
      `alter table "session" add constraint "session_person_id_foreign" foreign key ("person_id") references "person" ("id");`,
    );
    this.addSql(
      `alter table "session" add constraint "session_hash_form" check (hash ~ '^[A-Za-z0-9_-]{43}\$');`,
    );

    this.addSql(
      `alter table "sign_in_link" add constraint "sign_in_link_person_id_foreign" foreign key ("person_id") references "person" ("id");`,
    );
    this.addSql(
      `alter table "sign_in_link" add constraint "sign_in_link_hash_form" check (hash ~ '^[A-Za-z0-9_-]{43}\$');`,
    );

    this.addSql(
      `alter table "membership" add constraint "membership_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update cascade on delete cascade;`,
    );
    this.addSql(
      `alter table "membership" add constraint "membership_person_id_foreign" foreign key ("person_id") references "person" ("id") on update cascade on delete cascade;`,
    );
    this.addSql(
      `alter table "membership" add constraint "membership_role" check (role in ('viewer', 'member', 'admin'));`,
    );
  }
}
