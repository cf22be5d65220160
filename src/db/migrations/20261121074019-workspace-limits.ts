import { Migration } from '@mikro-orm/migrations';

export class Migration20261121074019_workspace_limits extends Migration {

  override name = 'Migration20261121074019_workspace_limits';

  override up(): void | Promise<void> {
    this.addSql(`create table "workspace_limit" ("workspace_id" bigint not null, "limit_class" text not null, "rate" int not null, "burst" int not null, primary key ("workspace_id", "limit_class"));`);

    this.addSql(`alter table "workspace_limit" add constraint "workspace_limit_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id");`);
    this.addSql(`alter table "workspace_limit" add constraint "workspace_limit_class" check (limit_class in ('quote', 'read', 'write'));`);
    this.addSql(`alter table "workspace_limit" add constraint "workspace_limit_in_range" check (rate >= 1 and rate <= 1000000 and burst >= 1 and burst <= 1000000);`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "workspace_limit" cascade;`);
  }

}
