import { expect, test } from "vitest";
import { purgeKeys } from "../../../src/features/credentials/secret-keys.ts";
import { connectTo } from "../../support/database.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const sql = await connectTo(service.databaseUrl);

test("purges only keys that expired 90 days ago, regardless of their number", async () => {
  const { id } = await service.addWorkspace();
  const { id: operator } = await service.addOperator();
  const add = (table: string, owner: string, ownerId: number, count: number, end: string) =>
    sql.query(
      `insert into ${table} (hash, id, ${owner}, last4, created_at, changed_at, ends_at)
       select rpad(md5(random()::text), 43, 'x'), 'key_' || left(md5(random()::text), 24), $1, 'abcd',
         now(), now(), now() + $3::interval
       from generate_series(1, $2::int)`,
      [ownerId, count, end],
    );
  const long = "-90 days -1 minutes";
  const recent = "-90 days 1 minute";
  await add("api_key", "workspace_id", id, 2_500, long);
  await add("api_key", "workspace_id", id, 2, recent);
  await add("operator_key", "operator_id", operator, 3, long);
  await add("operator_key", "operator_id", operator, 1, recent);
  await purgeKeys(service.app.em);
  const { rows } = await sql.query(
    `select (select count(*)::int from api_key where workspace_id = $1) as "apiKeys",
       (select count(*)::int from operator_key where operator_id = $2) as "operatorKeys"`,
    [id, operator],
  );
  expect(rows).toEqual([{ apiKeys: 3, operatorKeys: 2 }]);
});
