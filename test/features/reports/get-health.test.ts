import { hostname } from "node:os";
import { expect, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { data } from "../../support/answers.ts";
import { ANY_TIME, book } from "../../support/bookings.ts";
import { connectTo } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { startReceiver } from "../../support/receiver.ts";
import { HURRIED, startReplica, startService } from "../../support/service.ts";
import { addWebhook } from "../../support/webhooks.ts";

const service = await startService({ outside: HURRIED });
const sql = await connectTo(service.databaseUrl);
const as = service.as((await service.addOperator("viewer")).key);

const health = () => data(as.getHealth());

const REPLICA = {
  id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  host_name: hostname(),
  version: manifest.version,
  node_version: process.versions.node,
  started_at: ANY_TIME,
  seen_at: ANY_TIME,
  up: true,
};

test("an operator reads the state of the platform's components", async () => {
  await eventually("the replica", async () => (await health()).replicas.length === 1);
  const { rows } = await sql.query("select name from applied_migration order by id");
  const version = (await sql.query("show server_version")).rows[0].server_version.split(" ")[0];
  const found = await health();
  expect(found).toEqual({
    checked_at: ANY_TIME,
    replicas: [REPLICA],
    database: {
      version,
      size_bytes: expect.any(Number),
      migrations: rows.map(({ name }) => ({ name, applied_at: ANY_TIME })),
    },
    tariff: { version_in_force: 1, scheduled_version: null, scheduled_at: null },
    webhooks: { pending_deliveries: 0, oldest_pending_at: null },
    events: { delay_seconds: 0 },
    payments: { overdue_payments: 0, overdue_notices: 0, overdue_accounts: 0, payments: [] },
  });
  expect(found.database.size_bytes).toBeGreaterThan(1_000_000);
});

test("lists replicas while they run, and as down if they were not seen for 15 seconds", async () => {
  const second = await startReplica(service.databaseUrl);
  await eventually("both replicas", async () => (await health()).replicas.length === 2);
  await second.close();
  const [own, ...others] = (await health()).replicas;
  expect([own, others]).toEqual([REPLICA, []]);

  const lost = {
    id: "0198c0de-0000-4000-8000-000000000000",
    host_name: "lost",
    version: "0.0.9",
    node_version: "26.1.0",
    started_at: "2026-01-01T00:00:00.000Z",
  };
  await sql.query(
    `insert into replica (id, host_name, version, node_version, started_at, seen_at)
     values ($1, $2, $3, $4, $5, now() - interval '16 seconds')`,
    Object.values(lost),
  );
  await sql.query(
    `insert into replica (id, host_name, version, node_version, started_at, seen_at)
     values (gen_random_uuid(), 'long gone', '0.0.8', '26.1.0', '2025-01-01', now() - interval '25 hours')`,
  );
  const { replicas } = await health();
  expect(replicas).toEqual([REPLICA, { ...lost, seen_at: ANY_TIME, up: false }]);
  await sql.query("delete from replica where host_name in ('lost', 'long gone')");
});

test("a replica sends heartbeats", async () => {
  await sql.query("update replica set started_at = now() - interval '1 hour', seen_at = now() - interval '1 hour'");
  await eventually("a heartbeat", async () => (await health()).replicas[0].up);
});

test("shows a scheduled tariff with the one in force, but not a cancelled one", async () => {
  const insert = (version: number, at: string, calledOff: string) =>
    sql.query(
      `insert into tariff_version (version, document, digest, published_at, effective_at, called_off_at)
       select $1, document, digest, now(), ${at}, ${calledOff} from tariff_version where version = 1`,
      [version],
    );
  await insert(2, "now() - interval '1 minute'", "now()");
  await insert(3, "now() + interval '1 day'", "now()");
  await insert(4, "'2099-01-01T00:00:00Z'", "null");
  expect((await health()).tariff).toEqual({
    version_in_force: 1,
    scheduled_version: 4,
    scheduled_at: "2099-01-01T00:00:00.000Z",
  });
});

test("counts pending deliveries, with the time of the oldest", async () => {
  const receiver = await startReceiver((response) => response.writeHead(500).end());
  const { apiKey } = await service.addWorkspace();
  const { data: webhook } = await addWebhook(service, apiKey, { url: receiver.url });
  for (let i = 0; i < 3; i++) await book(service, apiKey);
  await sql.query(
    `update webhook_delivery set created_at = '2026-01-02T03:04:05.678Z'
     where webhook_id = $1 and id = (select min(id) from webhook_delivery where webhook_id = $1)`,
    [webhook.id],
  );
  // A response that was slow to compute is cached for a while.
  const webhookHealth = () => health().then(({ webhooks }) => webhooks);
  await eventually("the count", async () => (await webhookHealth()).pending_deliveries > 0);
  expect(await webhookHealth()).toEqual({
    pending_deliveries: 3,
    oldest_pending_at: "2026-01-02T03:04:05.678Z",
  });
});
