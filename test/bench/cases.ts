import { distribution } from "./cases/distribution.ts";
import { feed } from "./cases/feed.ts";
import { objective } from "./cases/objective.ts";
import { startAndMemory } from "./cases/start-and-memory.ts";
import { webhooks } from "./cases/webhooks.ts";
import { measureContest, type Bench, type Contest } from "./contest.ts";
import * as operation from "./operations.ts";
import { chooseSides, FASTIFY, GRPC_JS, OURS, peer } from "./sides.ts";

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
  distribution: { title: "Distribution", measure: distribution },
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
