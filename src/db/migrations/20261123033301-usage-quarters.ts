import { Migration } from "@mikro-orm/migrations";

/**
 * What was counted before, or is counted by a replica of the release before, is in the first quarter of its hour, so
 * that sums of hours stay what they are.
 */
export class Migration20261123033301_usage_quarters extends Migration {
  override name = "Migration20261123033301_usage_quarters";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "usage_hour" add "second_quarter" bigint not null default '0', add "third_quarter" bigint not null default '0', add "fourth_quarter" bigint not null default '0';`,
    );
  }
}
