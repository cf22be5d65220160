import { execFile, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { OBJECTIVE } from "../bench/objective.ts";
import { book, COVERED_ROUTE } from "../support/bookings.ts";
import { documentedMetrics } from "../support/documented-metrics.ts";
import { parsePrometheus, type Metric } from "../support/metrics.ts";
import { startService } from "../support/service.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const MONITORING = join(import.meta.dirname, "../../src/deploy/monitoring");
const ALERTS = join(MONITORING, "alerts.yaml");
const hasPromtool = spawnSync("promtool", ["--version"]).error === undefined;

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: Readonly<Record<"x" | "y" | "w" | "h", number>>;
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string; readonly datasource: { uid: string } }[];
}

let rules: Rule[];
let panels: Panel[];
let variables: readonly { readonly name: string; readonly type: string }[];
/** All expressions in the alerts and the dashboard. */
let expressions: string[];

beforeAll(async () => {
  const { groups } = parse(await readFile(ALERTS, "utf8")) as { groups: { rules: Rule[] }[] };
  rules = groups.flatMap((group) => group.rules);
  const dashboard = JSON.parse(await readFile(join(MONITORING, "dashboard.json"), "utf8"));
  panels = dashboard.panels;
  variables = dashboard.templating.list;
  const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expressions = [...rules.map(({ expr }) => expr), ...shown];
});

const NAME = /\b(?:shipments|process|nodejs)[_:][a-zA-Z0-9_:]+/g;

/** Returns the metric names in an expression, including histogram suffixes. */
const namesIn = (expression: string) => expression.replace(/\{[^}]*\}/g, "").match(NAME) ?? [];

test("every metric in the alerts and the dashboard is served or recorded by a rule", async () => {
  const served = new Set(await documentedMetrics());
  const recorded = new Set(rules.map(({ record }) => record));
  const unknown = expressions
    .flatMap(namesIn)
    .filter((name) => !recorded.has(name) && !served.has(name))
    .filter((name) => !served.has(name.replace(/_(bucket|sum|count)$/, "")));
  expect(unknown).toEqual([]);
});

test("every label selector in the alerts and the dashboard matches a value of a running service", async () => {
  const mail = { smtpUrl: "smtp://127.0.0.1:1", from: "no-reply@example.org" };
  const service = await startService({ publicUrl: "http://book.example.org", mail });
  const { apiKey } = await service.addWorkspace();
  await service.request("/v1/shipments/quote", { apiKey, body: COVERED_ROUTE });
  await book(service, apiKey);
  const chosen = expressions.flatMap((expression) =>
    [...expression.matchAll(/([a-z0-9_]+)\{([^}]*)\}/g)].map(([, name, labels]) => [name!, labels!]),
  );
  // Some metrics appear only after background work or a garbage collection.
  const missing = async () => {
    const metrics = parsePrometheus((await service.request("/metrics")).text);
    return chosen.filter(([name, labels]) => !hasSample(metrics, name!, labels!));
  };
  await expect.poll(missing).toEqual([]);
});

/**
 * Whether a metric has a sample with the label values that a selector requires with `=`, and with
 * all other labels of the selector.
 */
function hasSample(metrics: Map<string, Metric>, name: string, selector: string): boolean {
  const base = name.replace(/_(bucket|sum|count)$/, "");
  const samples = (metrics.get(name) ?? metrics.get(base))?.samples ?? [];
  const matchers = [...selector.matchAll(/([a-z]+)(=~|!~|!=|=)"([^"]*)"/g)].filter(([, label]) => label !== "instance");
  return samples.some(
    (sample) =>
      sample.name === name &&
      matchers.every(([, label, operator, value]) =>
        operator === "=" ? sample.labels[label!] === value : sample.labels[label!] !== undefined,
      ),
  );
}

test("every alert has a severity, a summary, a description and a runbook", () => {
  const alerts = rules.filter(({ alert }) => alert !== undefined);
  expect(alerts.length).toBeGreaterThan(20);
  for (const { alert, labels, annotations } of alerts) {
    expect(labels, alert).toEqual({ severity: expect.stringMatching(/^(page|ticket)$/) });
    const keys = ["summary", "description", "runbook", "runbook_url"];
    expect(Object.keys(annotations!), alert).toEqual(keys);
  }
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
});

test("the bench's objective equals that of the alerts, the dashboard and the guide", async () => {
  const guide = await readFile(join(import.meta.dirname, "../../src/docs/operations.md"), "utf8");
  const methods = { quote: "QuoteShipment", create: "CreateShipment" };
  for (const operation of ["quote", "create"] as const) {
    const { p99Ms, requestsPerSecond } = OBJECTIVE[operation];
    const slow = rules.filter(({ record, expr }) => record && expr.includes(methods[operation]));
    expect(slow.length).toBeGreaterThan(0);
    for (const { expr } of slow) expect(expr).toContain(`le="${p99Ms / 1_000}"`);
    expect(panels.map(({ title }) => title)).toContainEqual(expect.stringContaining(`beyond ${p99Ms} ms`));
    const row = new RegExp(`^\\| ${operation === "quote" ? "quotes" : "bookings"} .*$`, "m");
    const [published] = row.exec(guide) ?? [""];
    expect(published).toContain(`within ${p99Ms} ms`);
    expect(published).toContain(`${requestsPerSecond.toLocaleString("en")}/s`);
  }
});

test("the dashboard can be provisioned, with a selectable data source and panels that do not overlap", () => {
  expect(variables.map(({ name, type }) => [name, type])).toEqual([
    ["datasource", "datasource"],
    ["instance", "query"],
  ]);
  const rows = panels.filter(({ type }) => type === "row").map(({ title }) => title);
  expect(rows).toEqual([
    "Now",
    "Traffic",
    "Latency",
    "Errors",
    "Saturation",
    "Events and webhooks",
    "Database",
    "Process",
  ]);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const { type, title, description, datasource, targets } of panels) {
    if (type === "row") continue;
    expect(description, title).toMatch(/\.$/);
    const sources = [datasource, ...targets!.map((it) => it.datasource)];
    expect(new Set(sources.map((it) => it?.uid)), title).toEqual(new Set(["${datasource}"]));
  }
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});

describe.skipIf(!hasPromtool)("with promtool", () => {
  const promtool = (...args: string[]) => promisify(execFile)("promtool", args);

  test("the alerts are valid", async () => {
    const { stdout } = await promtool("check", "rules", "--lint=all", "--lint-fatal", ALERTS);
    expect(stdout).toContain(`SUCCESS: ${rules.length} rules found`);
  });

  test("the alerts fire only when they should", async () => {
    const { stdout } = await promtool("test", "rules", join(import.meta.dirname, "alerts.promtool.yaml"));
    expect(stdout).toContain("SUCCESS");
  });

  test("every metric of the service passes Prometheus's linter", async () => {
    const service = await startService();
    const { text } = await service.request("/metrics");
    await service.close();
    const linted = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
    const faults = linted.stderr.split("\n").filter((line) => line.startsWith("shipments_"));
    expect(faults).toEqual([]);
  });

  test("every expression of the dashboard is valid", async () => {
    const record = (expr: string, i: number) => ({
      record: `panel:${i}`,
      expr: expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*"),
    });
    const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const groups = [{ name: "dashboard", rules: shown.map(record) }];
    const folder = makeTemporaryFolder("monitoring");
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "dashboard.yaml");
    await writeFile(file, JSON.stringify({ groups }));
    const { stdout } = await promtool("check", "rules", file);
    expect(stdout).toContain(`SUCCESS: ${shown.length} rules found`);
  });
});
