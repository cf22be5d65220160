import { Migration } from "@mikro-orm/migrations";

/** Not in a transaction, so that one table at a time is locked. Can be repeated. */
export class Migration20261123060129_attention_of_platform extends Migration {
  override name = "Migration20261123060129_attention_of_platform";

  override isTransactional(): boolean {
    return false;
  }

  override up(): void | Promise<void> {
    this.addSql(
      `create index if not exists "webhook_failing" on "webhook" ("failing_since") where failing_since is not null;`,
    );
    this.addSql(
      `create index if not exists "payment_connection_stopped" on "payment_connection" ("workspace_id") where state in ('restricted', 'revoked');`,
    );
  }
}
