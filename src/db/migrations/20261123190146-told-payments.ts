import { Migration } from "@mikro-orm/migrations";

/** Not in a transaction, so that the index is not made under the lock that the column needs. Can be repeated. */
export class Migration20261123190146_told_payments extends Migration {
  override name = "Migration20261123190146_told_payments";

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "provider_payment" add column if not exists "told" boolean not null default false;`,
    );
    this.addSql(
      `create index if not exists "provider_payment_told" on "provider_payment" ("due_at") where told;`,
    );
  }
}
