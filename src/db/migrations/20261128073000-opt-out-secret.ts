import { randomBytes } from "node:crypto";
import { Migration } from "@mikro-orm/migrations";

/** The default is a constant, because PostgreSQL rewrites the whole table for a random default. */
export class Migration20261128073000_opt_out_secret extends Migration {
  override up(): void {
    const secret = randomBytes(32).toString("base64url");
    this.addSql(`alter table "installation" add "opt_out_secret" text not null default '${secret}'`);
    this.addSql(`alter table "installation" alter "opt_out_secret" drop default`);
  }
}
