import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Gauge, Registry } from "@prometheus-io/client";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { createToRefusal } from "../../../src/pipeline/refusals/to-refusal.ts";
import { createProbes } from "../../../src/transport/http/probes.ts";
import { answerOf } from "../../support/endpoints.ts";
import { parsePrometheus } from "../../support/metrics.ts";

/** Serves the probes with these metrics until the test ends. Returns the response from /metrics. */
async function readMetrics(registry: Registry): Promise<Response> {
  const probes = createProbes({
    unreadyReason: () => undefined,
    registry,
    toRefusal: createToRefusal(() => undefined, pino({ level: "silent" })),
  });
  const server = createServer((request, response) => void probes(request, response, "id"));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return fetch(`http://127.0.0.1:${port}/metrics`);
}

test("writes non-finite figures as in Prometheus's text format", async () => {
  const registry = new Registry();
  const figures = { nothing: NaN, most: Infinity, least: -Infinity, one: 1 };
  for (const [name, value] of Object.entries(figures)) {
    new Gauge({ name, help: `A figure: Nan or ${value}`, registers: [registry] }).set(value);
  }
  const text = await (await readMetrics(registry)).text();
  const read = [...parsePrometheus(text)].map(([name, { samples }]) => [name, samples[0]?.value]);
  expect(Object.fromEntries(read)).toEqual(figures);
});

test("returns an internal error for metrics that cannot be read", async () => {
  const registry = new Registry();
  const collect = () => {
    throw new Error("no figure");
  };
  registry.registerMetric(new Gauge({ name: "one", help: "One.", registers: [], collect }));
  const response = await readMetrics(registry);
  const answer = answerOf(response.status, response.headers, await response.text());
  expect([answer.status, answer.body, answer.code]).toEqual([
    500,
    { message: "The service failed. Report this with the request id.", errors: {} },
    "INTERNAL",
  ]);
});
