import { expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { END_MS } from "../../src/commands/serve.ts";
import { DRAIN_MS } from "../../src/server/lifecycle.ts";

test.each(["deployment.md", "proxies.md"])("%s states the time for calls in flight at shutdown", (guide) => {
  const text = readFileSync(`src/docs/${guide}`, "utf8").replaceAll(/\s+/g, " ");
  const seconds = [...text.matchAll(/calls in flight have up to (\S+) s to finish/gi)];
  expect(seconds.map(([, figure]) => figure)).toEqual([`${DRAIN_MS / 1_000}`]);
});

test.each(["docs/deployment.md", "deploy/shipment-booking@.service"])(
  "%s states when a replica has stopped",
  (file) => {
    const figures = [...readFileSync(`src/${file}`, "utf8").matchAll(/(\d+\.\d) s/g)];
    expect(figures.map(([, figure]) => Number(figure))).toEqual([END_MS / 1_000]);
  },
);
