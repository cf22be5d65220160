import { distributed } from "./cases/distributed.ts";
import { feed } from "./cases/feed.ts";
import { objective } from "./cases/objective.ts";
import { pages } from "./cases/pages.ts";
import { startAndMemory } from "./cases/start-and-memory.ts";
import { webhooks } from "./cases/webhooks.ts";
import { measureContest, type Bench, type Contest } from "./contest.ts";
import * as operation from "./operations.ts";
import { SETTINGS } from "./settings.ts";
import { chooseSides, FASTIFY, GRPC_JS, OURS, ours, peer } from "./sides.ts";

/** What is measured, under a name that `npm run bench` takes. */
export interface Case {
  readonly title: string;
  /** Gives Markdown. */
  readonly measure: (bench: Bench) => Promise<string>;
}

/** Every case, in the order of the results. */
export const CASES: Readonly<Record<string, Case>> = {
  "quote-json": contest("Quote, JSON", {
    sides: [OURS, FASTIFY, peer("bare node:http, a constant (the limit)", "bare-http.ts")],
    loads: [[operation.quoteJson, 64]],
  }),
  "quote-grpc": contest("Quote, gRPC", {
    sides: [OURS, GRPC_JS],
    loads: [[operation.quoteGrpc, 64]],
  }),
  create: contest("Create", {
    sides: [OURS, FASTIFY],
    loads: [[operation.create, 1, 16, 64]],
  }),
  reads: contest("Get and list, JSON", {
    sides: [OURS, FASTIFY],
    loads: [
      [operation.get, 1, 16, 64],
      [operation.list, 1, 16, 64],
    ],
  }),
  "reads-grpc": contest("Get and list, gRPC", {
    sides: [OURS, GRPC_JS],
    loads: [
      [operation.getGrpc, 1, 16, 64],
      [operation.listGrpc, 1, 16, 64],
    ],
  }),
  changes: contest("Cancel, pay, advance, update", {
    sides: [OURS, FASTIFY],
    loads: [
      [operation.cancel, 1, 16, 64],
      [operation.pay, 1, 64],
      [operation.advance, 1, 64],
      [operation.update, 1, 64],
    ],
  }),
  workspaces: contest("Many workspaces at once", {
    sides: [OURS, FASTIFY].map((side) => ({ ...side, workspaces: 32 })),
    loads: [
      [operation.inWorkspaces(operation.create, 1), 64],
      [operation.inWorkspaces(operation.create, 2), 64],
      [operation.inWorkspaces(operation.create, 32), 64],
      [operation.inWorkspaces(operation.get, 32), 64],
    ],
  }),
  growth: contest("Growth: ours, by how many shipments there are", {
    sides: [10_000, SETTINGS.manyShipments].map((count) =>
      ours(count.toLocaleString("en"), { shipments: count }),
    ),
    // One client at a time, so that the rate is the inverse of what a request costs.
    loads: [
      [operation.list, 1],
      [operation.cancel, 1],
      [operation.create, 1],
    ],
  }),
  pages: { title: "The dashboard: time to content", measure: pages },
  replicas: contest("Replicas of ours on one database", {
    sides: [ours("two", { replicas: 2 }), ours("one")],
    loads: [
      [operation.create, 64],
      [operation.get, 64],
    ],
  }),
  distributed: { title: "Distributed by Citus", measure: distributed },
  feed: { title: "From a booking to the feed", measure: feed },
  webhooks: { title: "Webhooks", measure: webhooks },
  objective: { title: "The service-level objective", measure: objective },
  start: { title: "Start and memory", measure: startAndMemory },
};

function contest(title: string, { sides, loads }: Contest): Case {
  return {
    title,
    measure: (bench) => measureContest(bench, { sides: chooseSides(sides), loads }),
  };
}
