import type { ServerResponse } from "node:http";
import type { Registry } from "@prometheus-io/client";
import type { Pipeline } from "../../pipeline/stages/pipeline.ts";
import { forReading, sendJson, sendRefusal, type HttpHandler } from "./responses.ts";
import { splitUrl } from "../connect/request-target.ts";
import { readCallHeaders } from "../../pipeline/call-headers.ts";
import { refuse } from "../../domain/refusal.ts";
import type { TransportServer } from "../connections/transport-server.ts";
import { createBoundedServer } from "./bounded-server.ts";

/** The library writes Nan, but the format requires NaN. */
const MISSPELT_NAN = / Nan$/gm;

/**
 * Serves `/healthz` (the process is alive), `/readyz` (200 if the process is ready for calls, otherwise
 * 503) and, with a registry, `/metrics` (Prometheus text format), for GET and HEAD.
 */
export function createProbes(options: {
  /** Returns the reason why the service is not ready. `undefined` if it is ready. */
  readonly unreadyReason: () => string | undefined;
  /** `undefined` if this server does not serve metrics. */
  readonly registry: Registry | undefined;
  readonly toRefusal: Pipeline["toRefusal"];
}): HttpHandler {
  const { unreadyReason, registry, toRefusal } = options;
  const pages: Readonly<Record<string, Page>> = {
    "/healthz": (response, requestId) => sendJson(response, 200, requestId, { status: "alive" }),
    "/readyz": (response, requestId) => {
      const unready = unreadyReason();
      if (unready === undefined) sendJson(response, 200, requestId, { status: "ready" });
      else sendJson(response, 503, requestId, { status: unready }, ["retry-after", "1"]);
    },
    ...(registry && { "/metrics": metricsPage(registry, toRefusal) }),
  };
  return (request, response, requestId) => {
    const [path] = splitUrl(request);
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page === undefined) return false;
    return forReading(request, response, requestId, () => page(response, requestId));
  };
}

type Page = (response: ServerResponse, requestId: string) => void;

function metricsPage(registry: Registry, toRefusal: Pipeline["toRefusal"]): Page {
  const send = async (response: ServerResponse, requestId: string) => {
    const text = (await registry.metrics()).replace(MISSPELT_NAN, " NaN");
    response.writeHead(200, {
      "content-type": registry.contentType,
      "cache-control": "no-store",
      "x-request-id": requestId,
    });
    response.end(text);
  };
  return (response, requestId) => {
    send(response, requestId).catch((error: unknown) => sendRefusal(response, requestId, toRefusal(error, requestId)));
  };
}

/** Creates the HTTP/1.1 server for operators and probes, without listening. */
export function createOperationsServer(probes: HttpHandler): TransportServer {
  return createBoundedServer((request, response) => {
    const requestId = readCallHeaders(request.rawHeaders).requestId;
    if (probes(request, response, requestId)) return;
    const text = "This path does not exist. Available paths: /metrics, /healthz and /readyz.";
    sendRefusal(response, requestId, refuse("NO_SUCH_METHOD", text));
  });
}
