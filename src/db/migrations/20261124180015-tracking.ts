import { Migration } from "@mikro-orm/migrations";

/** What makes the tracking links of a workspace, and whether it has them. */
export class Migration20261124180015_tracking extends Migration {
  override up(): void {
    this.addSql(`alter table "workspace" add "tracking_enabled" boolean not null default true,
      add "tracking_contact" text null, add "tracking_slug" text null, add "tracking_secret" text null`);
    this.addSql(
      `alter table "workspace" add constraint "workspace_tracking_slug" unique ("tracking_slug")`,
    );
  }
}
