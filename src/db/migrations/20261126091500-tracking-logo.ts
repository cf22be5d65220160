import { Migration } from "@mikro-orm/migrations";

export class Migration20261126091500_tracking_logo extends Migration {
  override up(): void {
    this.addSql(`alter table "workspace" add "tracking_logo" bytea null`);
  }
}
