import { randomUUID } from "node:crypto";
import rateLimit from "@fastify/rate-limit";
import { Histogram } from "@prometheus-io/client";
import type { FastifyInstance, FastifyServerOptions } from "fastify";
import { pino } from "pino";

/** Options of a deployed Fastify server: a log line per request, which is discarded, and a request id. */
export const DEPLOYED_OPTIONS: FastifyServerOptions = {
  loggerInstance: pino(pino.destination("/dev/null")),
  genReqId: () => randomUUID(),
};

/** Adds what production deployments have: a rate limit per API key, the request id in responses, and metrics. */
export async function addDeployedParts(app: FastifyInstance): Promise<void> {
  await app.register(rateLimit, {
    max: 1_000_000_000,
    timeWindow: "1 minute",
    keyGenerator: (request) => request.headers.authorization ?? request.ip,
  });
  const duration = new Histogram({
    name: "http_request_duration_seconds",
    help: "Duration of requests",
    labelNames: ["method", "route", "status"],
  });
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
  });
  app.addHook("onResponse", async ({ method, routeOptions }, reply) => {
    const labels = { method, route: routeOptions.url ?? "", status: String(reply.statusCode) };
    duration.observe(labels, reply.elapsedTime / 1_000);
  });
}
