import type { DescService } from "@bufbuild/protobuf";
import { createClient, type Client } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

/** A gRPC client of any service that sends the key as metadata. */
export function rpcClient<S extends DescService>(
  service: S,
  grpcUrl: string,
  apiKey: string,
): Client<S> {
  return createClient(
    service,
    createGrpcTransport({
      baseUrl: grpcUrl,
      interceptors: [
        (next) => (request) => {
          request.header.set("authorization", `Bearer ${apiKey}`);
          return next(request);
        },
      ],
    }),
  );
}
