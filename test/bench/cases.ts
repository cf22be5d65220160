import { couriers } from "./cases/couriers.ts";
import { distribution } from "./cases/distribution.ts";
import { feed } from "./cases/feed.ts";
import { objective } from "./cases/objective.ts";
import { startAndMemory } from "./cases/start-and-memory.ts";
import { webhooks } from "./cases/webhooks.ts";
import { measureContest, type Bench, type Contest } from "./contest.ts";
import * as operation from "./operations.ts";
import { chooseSides, FASTIFY, FASTIFY_DEPLOYED, GO, GRPC_JS, OURS, ours, peer } from "./sides.ts";

/** A case of `npm run bench`. */
export interface Case {
  readonly title: string;
  /** Runs the case and returns its results as Markdown. */
  readonly measure: (bench: Bench) => Promise<string>;
}

/** All cases in the order of the results. */
export const CASES: Readonly<Record<string, Case>> = {
  "quote-json": contest("Quote, JSON", {
    sides: [OURS, FASTIFY_DEPLOYED, FASTIFY, ...GO, peer("bare node:http, a constant (the limit)", "bare-http.ts")],
    loads: [[operation.quoteJson, 64]],
  }),
  "quote-grpc": contest("Quote, gRPC", {
    sides: [OURS, GRPC_JS],
    loads: [[operation.quoteGrpc, 64]],
  }),
  create: contest("Create", {
    sides: [OURS, FASTIFY_DEPLOYED, FASTIFY, ...GO],
    loads: [[operation.create, 1, 16, 64]],
  }),
  reads: contest("Get and list, JSON", {
    sides: [OURS, FASTIFY_DEPLOYED, FASTIFY, ...GO],
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
  replicas: contest("Replicas", {
    sides: [ours("one replica"), ours("two replicas", { replicas: 2 }), ours("four replicas", { replicas: 4 })],
    loads: [
      [operation.create, 64],
      [operation.createInAll, 64],
    ],
    byProcess: true,
  }),
  distribution: { title: "Distribution", measure: distribution },
  feed: { title: "From a booking to the feed", measure: feed },
  webhooks: { title: "Webhooks", measure: webhooks },
  objective: { title: "The service-level objective", measure: objective },
  couriers: { title: "2,000 couriers on one core", measure: couriers },
  start: { title: "Start and memory", measure: startAndMemory },
};

function contest(title: string, of: Contest): Case {
  return {
    title,
    measure: (bench) => measureContest(bench, { ...of, sides: chooseSides(of.sides) }),
  };
}
