import { Migration } from "@mikro-orm/migrations";

/** Adds the tracking settings of workspaces. Each statement runs in its own transaction. */
export class Migration20261124180015_tracking extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql(`alter table "workspace" add if not exists "tracking_enabled" boolean not null default true,
      add if not exists "tracking_contact" text null, add if not exists "tracking_slug" text null,
      add if not exists "tracking_secret" text null`);
    this.addSql(`create unique index if not exists "workspace_tracking_slug" on "workspace" ("tracking_slug")`);
  }
}
