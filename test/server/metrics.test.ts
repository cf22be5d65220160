import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { loadTableRows } from "../../src/features/reports/load-figures.ts";
import { book, bookAnd, COVERED_ROUTE } from "../support/bookings.ts";
import { eventually } from "../support/eventually.ts";
import { documentedMetrics } from "../support/documented-metrics.ts";
import { parsePrometheus, type Metric } from "../support/metrics.ts";
import { setLimit } from "../support/platform.ts";
import { startReceiver } from "../support/receiver.ts";
import { startReplica, startService, type TestService } from "../support/service.ts";
import { addWebhook, untilAttempted } from "../support/webhooks.ts";

const service = await startService();

const metricsOf = async (of: TestService): Promise<Map<string, Metric>> =>
  parsePrometheus((await of.request("/metrics")).text);

/** Returns the value of the sample with exactly these labels. Ignores the bucket label. */
function figure(
  metrics: Map<string, Metric>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const metric = metrics.get(name) ?? metrics.get(name.replace(/_(sum|count)$/, ""));
  const isListed = (sample: Metric["samples"][number]) =>
    sample.name === name && isDeepStrictEqual(sample.labels, labels);
  return metric?.samples.find(isListed)?.value;
}

test.runIf(process.platform === "linux")(
  "the metrics of a running service are exactly those in the guide",
  async () => {
    expect([...(await metricsOf(service)).keys()].toSorted()).toEqual(await documentedMetrics());
  },
);

test("every own metric follows Prometheus's naming conventions and has a help text", async () => {
  const { text } = await service.request("/metrics");
  const own = [...(await metricsOf(service))].filter(([name]) => name.startsWith("shipments_"));
  for (const [name, { type }] of own) {
    expect(name).toMatch(/^shipments_[a-z_]+$/);
    expect(name, "milliseconds and such are not base units").not.toMatch(/_(ms|millis|kb|mb)$/);
    expect(name.endsWith("_total"), name).toBe(type === "counter");
    expect(text).toMatch(new RegExp(`^# HELP ${name} [A-Z1].{20,}\\.$`, "m"));
  }
});

test("metrics report groups, waits for connections and rate-limited calls", async () => {
  const { id, apiKey } = await service.addWorkspace();
  const before = await metricsOf(service);
  const { reference } = await bookAnd(service, apiKey, ["pay"]);
  await service.request(`/v1/shipments/${reference}`, { apiKey });
  await setLimit(service.app.em, id, "quote", { rate: 1, burst: 1 });
  await eventually("a quote to be refused", async () => {
    const quote = { apiKey, body: COVERED_ROUTE };
    return (await service.request("/v1/shipments/quote", quote)).status === 429;
  });

  const after = await metricsOf(service);
  const increaseOf = (name: string, labels?: Readonly<Record<string, string>>) =>
    figure(after, name, labels)! - figure(before, name, labels)!;
  for (const group of ["bookings", "changes", "shipment_reads"]) {
    expect(increaseOf("shipments_group_size_count", { group }), group).toBe(1);
    expect(increaseOf("shipments_group_size_sum", { group }), group).toBe(1);
    expect(increaseOf("shipments_group_wait_seconds_count", { group }), group).toBe(1);
  }
  expect(increaseOf("shipments_database_wait_seconds_count")).toBeGreaterThan(3);
  expect(increaseOf("shipments_rate_limited_total", { class: "quote" })).toBeGreaterThan(0);
  expect(increaseOf("shipments_rate_limited_total", { class: "write" })).toBe(0);
});

test("metrics report webhook attempts by outcome, and a replica's due work", async () => {
  const { apiKey, id } = await service.addWorkspace();
  const before = await metricsOf(service);
  const gone = await startReceiver();
  const statuses = [204, 500];
  const answering = await Promise.all(
    statuses.map((status) => startReceiver((response) => response.writeHead(status).end())),
  );
  const added = [];
  for (const { url } of [...answering, gone]) added.push(await addWebhook(service, apiKey, { url }));
  await gone.close();
  await book(service, apiKey);
  for (const { data } of added) await untilAttempted(service, apiKey, data.id, 1);
  await service.app.em.execute(
    `insert into kept_answer (workspace_id, key, method, request_digest, response, created_at)
     values (?, 'old', 'm', 'd', '', now() - interval '10 days')`,
    [id],
  );
  // Nobody sends these: there is no mail server, and another process has leased the webhook.
  const { data: held } = await addWebhook(service, apiKey, { url: gone.url });
  await service.app.em.execute(
    `insert into mail (kind, state, email, created_at, next_attempt_at)
     values ('sign_in', 'waiting', 'ada@example.org', now(), now() - interval '1 hour');
     insert into webhook_lease (workspace_id, webhook_id, worker, leased_until)
     values (${id}, '${held.id}', 'other', now() + interval '1 day');
     insert into webhook_delivery (workspace_id, webhook_id, subject, number, type, created_at, next_attempt_at)
     values (${id}, '${held.id}', 'SHP-0123456789AB', 1, 'shipment.created', now(), now() - interval '1 hour')`,
  );

  const after = await metricsOf(service);
  const increaseOf = (outcome: string) =>
    figure(after, "shipments_queue_processed_total", { queue: "webhooks", outcome })! -
    figure(before, "shipments_queue_processed_total", { queue: "webhooks", outcome })!;
  expect([increaseOf("delivered"), increaseOf("rejected"), increaseOf("unanswered")]).toEqual([1, 1, 1]);

  // PostgreSQL counts rows with a delay of some seconds. A replica polls them once at startup, and then rarely.
  await eventually("the rows of events to be counted", async () => {
    const tables = await loadTableRows(service.app.em);
    return tables.some(({ table, rows }) => table === "event" && rows > 0);
  });
  const replica = await startReplica(service.databaseUrl);
  const seen = await eventually("the replica to poll", async () => {
    const metrics = await metricsOf(replica);
    const purged = figure(metrics, "shipments_purged_rows_total", { kind: "stored_responses" });
    const events = figure(metrics, "shipments_table_rows", { table: "event" }) ?? 0;
    const newest = figure(metrics, "shipments_event_newest_age_seconds") ?? 0;
    return events > 0 && newest > 0 && purged === 1 && metrics;
  });
  await replica.close();
  expect(figure(seen, "shipments_queue_due", { queue: "sign_in_mails" })).toBe(1);
  expect(figure(seen, "shipments_queue_due", { queue: "webhooks" })).toBeGreaterThanOrEqual(1);
  for (const queue of ["sign_in_mails", "webhooks"]) {
    expect(figure(seen, "shipments_queue_due_age_seconds", { queue })).toBeGreaterThanOrEqual(3_600);
  }
  expect(figure(seen, "shipments_queue_due_age_seconds", { queue: "payments" })).toBe(0);
  expect(figure(seen, "shipments_database_figures_age_seconds")).toBeGreaterThanOrEqual(0);
  expect(figure(seen, "shipments_ready")).toBe(1);
  expect(figure(seen, "shipments_tariff_lag_seconds")).toBe(0);
  await Promise.all(answering.map((it) => it.close()));
});

test("metrics report the version and the connections", async () => {
  const metrics = await metricsOf(service);
  const manifest = await readFile(join(import.meta.dirname, "../../package.json"), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  const labels = { version, node: process.versions.node };
  expect(figure(metrics, "shipments_build_info", labels)).toBe(1);
  expect(figure(metrics, "shipments_open_connections", { server: "http" })).toBeGreaterThan(0);
});
