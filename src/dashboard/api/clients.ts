import type { DescMessage, DescMethodUnary, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createClient,
  type CallOptions,
  type Client,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { useCallback, useContext, useMemo } from "preact/hooks";
import { noteConnectionLost } from "./connection.ts";
import { isLost } from "./problem.ts";
import { onSessionEnded, WorkspaceId } from "./session.ts";

export function noteError(thrown: unknown): void {
  const error = ConnectError.from(thrown);
  if (isLost(error)) noteConnectionLost();
  if (error.code === Code.Unauthenticated) onSessionEnded();
}

const noteErrors: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (error) {
    if (!request.signal.aborted) noteError(error);
    throw error;
  }
};

/** Creates a transport that sends the session's cookie and the workspace's id, if given. */
function createTransport(workspace: string | undefined): Transport {
  const nameWorkspace: Interceptor = (next) => (request) => {
    if (workspace !== undefined) request.header.set("x-workspace", workspace);
    return next(request);
  };
  return createConnectTransport({
    baseUrl: location.origin,
    useBinaryFormat: true,
    defaultTimeoutMs: 30_000,
    interceptors: [noteErrors, nameWorkspace],
  });
}

function useTransport(): Transport {
  const workspace = useContext(WorkspaceId);
  return useMemo(() => createTransport(workspace), [workspace]);
}

export function useCall() {
  const transport = useTransport();
  return useCallback(
    async <I extends DescMessage, O extends DescMessage>(
      method: DescMethodUnary<I, O>,
      request: MessageInitShape<I>,
      { signal, timeoutMs, headers }: CallOptions = {},
    ): Promise<MessageShape<O>> => (await transport.unary(method, signal, timeoutMs, headers, request)).message,
    [transport],
  );
}

/**
 * Returns a client of a service for the page's workspace:
 *
 *     const shipments = useClient(ShipmentService);
 */
export function useClient<T extends DescService>(service: T): Client<T> {
  const transport = useTransport();
  return useMemo(() => createClient(service, transport), [service, transport]);
}

export function clientFor<T extends DescService>(service: T, workspace?: string): Client<T> {
  return createClient(service, createTransport(workspace));
}
