import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Gauge, Registry } from "@prometheus-io/client";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createRefusalOf } from "../../../src/pipeline/refusal-for.ts";
import { createProbes } from "../../../src/transport/http/probes.ts";
import { parsePrometheus } from "../../support/metrics.ts";

test("figures that are not finite are spelt as Prometheus' text format has them", async () => {
  const registry = new Registry();
  const figures = { nothing: NaN, most: Infinity, least: -Infinity, one: 1 };
  for (const [name, value] of Object.entries(figures)) {
    new Gauge({ name, help: `A figure: Nan or ${value}`, registers: [registry] }).set(value);
  }
  const probes = createProbes({
    unreadyBecause: () => undefined,
    registry,
    refusalOf: createRefusalOf(() => undefined, pino({ level: "silent" })),
  });
  const server = createServer((request, response) => void probes(request, response, "id"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  server.closeAllConnections();
  server.close();

  const read = [...parsePrometheus(text)].map(([name, { samples }]) => [name, samples[0]?.value]);
  expect(Object.fromEntries(read)).toEqual(figures);
});
