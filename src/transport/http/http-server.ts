import type { IncomingMessage, ServerResponse } from "node:http";
import type { RpcHandler } from "../connect/node-request.ts";
import type { TransportServer } from "../connections/transport-server.ts";
import type { ApiDescription } from "./api-description.ts";
import { createBoundedServer, type BoundedServerOptions } from "./bounded-server.ts";
import { prefersPage, sendPage } from "./browser-page.ts";
import type { JsonGateway } from "./json-gateway.ts";
import type { Probes } from "./probes.ts";
import { requestIdOf } from "./request-id.ts";
import type { SignInPages } from "./sign-in.ts";
import type { StaticFiles } from "./static-files.ts";

/** What answers requests that are not for the API. */
interface OutsideApi {
  readonly probes: Probes;
  readonly apiDescription: ApiDescription;
  readonly signInPages: SignInPages;
  readonly docs?: StaticFiles;
  readonly dashboard?: StaticFiles | undefined;
}

/**
 * Opens an HTTP/1.1 server; it does not listen yet. Paths below one of `serviceNames` are RPCs.
 * Without `dashboard`, browsers get a page that says what runs here.
 */
export function createHttpServer(
  options: OutsideApi &
    BoundedServerOptions & {
      readonly serviceNames: readonly string[];
      readonly handleRpc: RpcHandler;
      readonly gateway: JsonGateway;
      /** Whether callers should connect to another process from now on. */
      readonly isLeaving?: () => boolean;
    },
): TransportServer {
  const { handleRpc, gateway, isLeaving = () => false } = options;
  const rpcPrefixes = options.serviceNames.map((name) => `/${name}/`);
  const answerOutsideApi = createOutsideApi(options);
  return createBoundedServer((request, response, calls) => {
    if (isLeaving()) response.setHeader("connection", "close");
    const url = request.url ?? "";
    if (url.startsWith("/v1/")) gateway(request, response, calls);
    else if (rpcPrefixes.some((prefix) => url.startsWith(prefix))) handleRpc(request, response);
    else if (!answerOutsideApi(request, response)) gateway(request, response, calls);
  }, options);
}

/** Builds the answers to probes, browsers and readers of documents; they are false when the request is for the API. */
function createOutsideApi(
  answers: OutsideApi,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const { probes, apiDescription, signInPages, docs, dashboard } = answers;
  return (request, response) => {
    if (signInPages(request, response)) return true;
    const requestId = requestIdOf(request);
    if (probes(request, response, requestId)) return true;
    if (apiDescription(request, response, requestId)) return true;
    if (docs?.(request, response, requestId)) return true;
    if (dashboard?.(request, response, requestId)) return true;
    if (request.url !== "/" || !prefersPage(request)) return false;
    sendPage(response, dashboard === undefined ? "start" : "unbuilt", requestId);
    return true;
  };
}
