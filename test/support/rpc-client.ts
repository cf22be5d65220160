import type { DescService } from "@bufbuild/protobuf";
import { createClient, type Client, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";

/** URLs of the two servers of a service. */
export interface ServerUrls {
  readonly httpUrl: string;
  readonly grpcUrl: string;
}

interface Options {
  readonly interceptors?: Interceptor[];
  readonly useBinaryFormat?: boolean;
  readonly jsonOptions?: object;
}

const overHttp1 = ({ httpUrl }: ServerUrls, options?: Options) =>
  ({ baseUrl: httpUrl, httpVersion: "1.1", ...options }) as const;

const overHttp2 = ({ grpcUrl }: ServerUrls, options?: Options) =>
  ({ baseUrl: grpcUrl, httpVersion: "2", ...options }) as const;

const asBinary = (options?: Options): Options => ({ ...options, useBinaryFormat: true });

const asJson = (options?: Options): Options => ({ ...options, useBinaryFormat: false });

/** Transport for every protocol on each server, in binary and JSON form. */
export const PROTOCOLS = {
  "gRPC on the gRPC server": (urls, options?: Options) => createGrpcTransport(overHttp2(urls, options)),
  "gRPC with JSON on the gRPC server": (urls, options?: Options) =>
    createGrpcTransport(overHttp2(urls, asJson(options))),
  "gRPC-Web on the gRPC server": (urls, options?: Options) => createGrpcWebTransport(overHttp2(urls, options)),
  "Connect on the gRPC server": (urls, options?: Options) => createConnectTransport(overHttp2(urls, options)),
  "Connect with binary messages on the gRPC server": (urls, options?: Options) =>
    createConnectTransport(overHttp2(urls, asBinary(options))),
  "gRPC-Web on the HTTP server": (urls, options?: Options) => createGrpcWebTransport(overHttp1(urls, options)),
  "gRPC-Web with JSON on the HTTP server": (urls, options?: Options) =>
    createGrpcWebTransport(overHttp1(urls, asJson(options))),
  "Connect on the HTTP server": (urls, options?: Options) => createConnectTransport(overHttp1(urls, options)),
  "Connect with binary messages on the HTTP server": (urls, options?: Options) =>
    createConnectTransport(overHttp1(urls, asBinary(options))),
} satisfies Record<string, (urls: ServerUrls, options?: Options) => Transport>;

/** Creates a client for a service, with the key as metadata. */
export function rpcClient<S extends DescService>(
  service: S,
  transportTo: (urls: ServerUrls, options: Options) => Transport,
  urls: ServerUrls,
  apiKey: string,
): Client<S> {
  const withKey: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${apiKey}`);
    return next(request);
  };
  return createClient(service, transportTo(urls, { interceptors: [withKey] }));
}
