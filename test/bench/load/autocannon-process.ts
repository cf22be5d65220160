/** Puts the load that its argument describes on a server, and prints what became of it as JSON. */
import { createRequire } from "node:module";
import { customerNumber, shipmentName } from "../shipments.ts";
import type { HttpLoad, Outcome } from "./http-load.ts";

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: string | undefined;
}

interface Result {
  readonly requests: { readonly total: number; readonly sent: number; readonly average: number };
  readonly latency: { readonly p50: number; readonly p99: number };
  readonly non2xx: number;
  readonly errors: number;
}

// It comes without types.
const autocannon = createRequire(import.meta.url)("autocannon") as (
  options: object,
) => Promise<Result>;

const load = JSON.parse(process.argv[2]!) as HttpLoad & { readonly requestsPerSecond?: number };
const { url, method, path, body, apiKey, connections, seconds, shipments = Infinity } = load;
let number = load.first;
const varies = path.includes("{shipment}") || (body?.includes("{customer}") ?? false);

function nextRequest(request: Request): Request {
  const varied = {
    ...request,
    path: path.replace("{shipment}", shipmentName((number % shipments) + 1)),
    body: body?.replaceAll("{customer}", String(customerNumber(number))),
  };
  number++;
  return varied;
}

const result = await autocannon({
  url,
  connections,
  duration: seconds,
  headers: {
    authorization: `Bearer ${apiKey}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  },
  requests: [{ method, path, body, ...(varies ? { setupRequest: nextRequest } : {}) }],
  ...(load.requestsPerSecond === undefined ? {} : { overallRate: load.requestsPerSecond }),
});
const outcome: Outcome = {
  requests: result.requests.total,
  requestsPerSecond: result.requests.average,
  medianMs: result.latency.p50,
  p99Ms: result.latency.p99,
  failed: result.non2xx + result.errors,
  issued: Math.max(result.requests.sent, number - load.first),
};
process.stdout.write(JSON.stringify(outcome));
