import { refuse } from "../../domain/refusal.ts";
import type { TransportServer } from "../connections/transport-server.ts";
import { createBoundedServer } from "./bounded-server.ts";
import type { Probes } from "./probes.ts";
import { requestIdOf } from "./request-id.ts";
import { sendRefusal } from "./send-refusal.ts";

/** Opens the HTTP/1.1 server that answers operators and their probes alone; it does not listen yet. */
export function createOperationsServer(probes: Probes): TransportServer {
  return createBoundedServer((request, response) => {
    const requestId = requestIdOf(request);
    if (probes(request, response, requestId)) return;
    const text = "There is nothing at this path; there are /metrics, /healthz and /readyz.";
    sendRefusal(response, requestId, refuse("NO_SUCH_METHOD", text));
  });
}
