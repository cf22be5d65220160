import { Migration } from "@mikro-orm/migrations";

export class Migration20261128073600_person_name extends Migration {
  override up(): void {
    this.addSql(`alter table "person" alter column "name" drop not null`);
  }
}
