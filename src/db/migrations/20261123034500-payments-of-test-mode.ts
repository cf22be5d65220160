import { Migration } from "@mikro-orm/migrations";

/** Not in a transaction, so that the index is not made under the lock that the column needs. Can be repeated. */
export class Migration20261123034500_payments_of_test_mode extends Migration {
  override name = "Migration20261123034500_payments_of_test_mode";

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "payment_notice" add column if not exists "live" boolean not null default true;`,
    );
    this.addSql(
      `create index if not exists "payment_notice_of_test" on "payment_notice" ("account") where not live;`,
    );
  }
}
