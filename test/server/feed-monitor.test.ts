import pg from "pg";
import { expect, test } from "vitest";
import { book } from "../support/bookings.ts";
import { eventually } from "../support/eventually.ts";
import { startServiceProcess } from "../support/service-process.ts";
import { startService } from "../support/service.ts";

test("a transaction that keeps events from being shown is told by the metrics, the log and readiness", async () => {
  const service = await startService();
  const { apiKey } = await service.addWorkspace();
  const watching = await startServiceProcess({
    DATABASE_URL: service.databaseUrl,
    MAX_EVENT_DELAY_SECONDS: "3",
  });
  await watching.untilReady();
  const delay = async () => {
    const { text } = await watching.request("/metrics");
    return Number(/^shipments_event_delay_seconds (\S+)$/m.exec(text)?.[1]);
  };
  expect(await delay()).toBe(0);

  // In another database of the server, as an administrator's script.
  const url = new URL(service.databaseUrl);
  url.pathname = "postgres";
  const holder = new pg.Client({ connectionString: url.href, application_name: "nightly report" });
  await holder.connect();
  await holder.query("begin; select pg_current_xact_id()");
  const { rows } = await holder.query("select pg_backend_pid() as pid");
  await book(service, apiKey);

  await eventually("readiness to say so", async () => {
    const { status, body } = await watching.request("/readyz");
    return status === 503 && body.status === "new events wait for a transaction to end";
  });
  expect(await delay()).toBeGreaterThan(3);
  const {
    msg,
    level: _,
    time: __,
    ...told
  } = await eventually("the log to name it", () =>
    watching.log().find(({ pid }) => pid === rows[0].pid),
  );
  expect([msg, told]).toEqual([
    "new events wait for a transaction to end",
    {
      seconds: expect.any(Number),
      pid: rows[0].pid,
      application: "nightly report",
      database: "postgres",
      state: "idle in transaction",
      prepared: null,
    },
  ]);
  expect((await watching.request("/v1/workspace", { apiKey })).status).toBe(200);

  await holder.end();
  await watching.untilReady();
  expect(await delay()).toBe(0);
});
