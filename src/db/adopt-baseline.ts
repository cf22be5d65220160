import { Migration } from "@mikro-orm/migrations";

/** Upgrades a database with all migrations that the baseline replaced (`REPLACED`) to the baseline's schema. */
export class AdoptBaseline extends Migration {
  override up(): void {
    this.addSql("drop function if exists event_take_position_fn() cascade");
    this.addSql("alter table event drop column transaction");
    this.addSql("alter table api_key alter column id drop default");
    this.addSql("delete from applied_migration");
  }
}
