import { createClient, type Client, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { EventService } from "../../gen/shipments/v1/event_service_pb.js";
import type { TestService } from "./service.ts";

/** A client of the event service, by gRPC or by Connect, that sends the key as metadata. */
export function eventClient(
  service: TestService,
  apiKey: string,
  door: "gRPC" | "Connect" = "gRPC",
): Client<typeof EventService> {
  const withKey: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${apiKey}`);
    return next(request);
  };
  const interceptors = [withKey];
  return createClient(
    EventService,
    door === "gRPC"
      ? createGrpcTransport({ baseUrl: service.grpcUrl, interceptors })
      : createConnectTransport({ baseUrl: service.httpUrl, httpVersion: "1.1", interceptors }),
  );
}

/** The first so many of a stream's messages; then the stream is left. */
export async function take<T>(count: number, stream: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const message of stream) {
    taken.push(message);
    if (taken.length === count) break;
  }
  return taken;
}
