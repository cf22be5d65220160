import { Migration } from "@mikro-orm/migrations";

/**
 * Not in a transaction: tables are locked one by one, and nobody waits while they are read. Can be
 * repeated.
 */
export class Migration20261122200344_test_payments extends Migration {
  override name = "Migration20261122200344_test_payments";

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    // Those at Stripe, which come with a later migration, are let in here too, so that all is read once.
    this.addSql(`alter table "payment_connection"
      drop constraint if exists "payment_connection_provider",
      add constraint "payment_connection_provider" check (provider in ('manual', 'stripe', 'test')) not valid;`);
    this.addSql(
      `alter table "payment_connection" validate constraint "payment_connection_provider";`,
    );
    this.addSql(`alter table "payment"
      drop constraint if exists "payment_provider",
      add constraint "payment_provider" check (provider in ('manual', 'test', 'stripe')) not valid;`);
    this.addSql(`alter table "payment" validate constraint "payment_provider";`);
  }
}
