import { Migration } from "@mikro-orm/migrations";

export class Migration20261128060000_late_after extends Migration {
  override up(): void {
    this.addSql(`alter table "workspace" add "late_after_minutes" int not null default 240`);
  }
}
